"""Agreement between assessors: coefficients, intervals and tables.

How each coefficient is checked. Every one is computed from tables of counts, which may be weighted or those of many
sets of pairs; alphas are those of the `krippendorff` package (`test_alpha_of_package_and_ours.py`). None has a value
where the ratings are degenerate; the formulas and the words that say so agree on the same ratings
(`test_counts_have_a_gap_just_where_words_say_why`). On CSFCube's ratings they give what its paper prints
(`test_agreement_on_csfcube.py`). Against others, in `tests/agreement/`: `example` is published data with a published
value, `second` a second implementation on drawn ratings, skewed ones among them; where no library has it, the
definition written out.

spearman_rho
    formula: Spearman 1904, American Journal of Psychology 15, 72-101; ties: Kendall 1970, Rank Correlation Methods
    example: Kendall 1970, example 3.1, his formula by hand (test_rank_correlations_with_ties); Wikipedia, without ties
        (test_rho_of_the_textbook_example)
    second: scipy (test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them); Friedman's test of scipy, mean of
        many (test_mean_rho_of_untied_ranks_as_friedmans_test_has_it)
kendall_tau_b
    formula: Kendall 1945, Biometrika 33, 239-251
    example: Kendall 1970, example 3.1 (test_rank_correlations_with_ties); R, cor.test (test_tau_b_as_r_has_it)
    second: scipy (test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them)
alpha_ordinal
    formula: Krippendorff 2011, Computing Krippendorff's alpha-reliability, page 6
    example: the same, section D, four observers, gaps (test_alpha_of_krippendorffs_four_observers)
    second: krippendorff (test_alphas_as_the_krippendorff_package_has_them); nltk (test_alphas_as_nltk_has_them)
alpha_nominal
    formula: Krippendorff 2011
    example: the same, sections A and C (test_alpha_of_krippendorffs_binary_data,
        test_alpha_of_krippendorffs_four_observers); irrCAC (test_coefficients_of_two_abstractors,
        test_coefficients_of_five_observers); Fleiss 1971 (test_alpha_nominal_of_fleiss_diagnoses)
    second: krippendorff (test_alphas_as_the_krippendorff_package_has_them); nltk (test_alphas_as_nltk_has_them);
        statsmodels (test_alpha_nominal_from_the_fleiss_kappa_of_statsmodels)
alpha_interval
    formula: Krippendorff 2011
    example: the same, section D (test_alpha_of_krippendorffs_four_observers); irrCAC, quadratic weights
        (test_coefficients_of_two_abstractors, test_weighted_coefficients_of_fifteen_diagnoses)
    second: krippendorff (test_alphas_as_the_krippendorff_package_has_them); nltk (test_alphas_as_nltk_has_them)
kappa
    formula: Cohen 1960, Educational and Psychological Measurement 20, 37-46; of many, see `many_assessors`
    example: the same, two tables (test_kappa_of_cohens_tables); SAS, PROC FREQ (test_kappa_of_the_sas_example); R
        package irr (test_kappa_of_the_anxiety_raters); irrCAC (test_coefficients_of_two_abstractors,
        test_coefficients_of_two_methods_of_diagnosis)
    second: sklearn (test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them); statsmodels
        (test_kappas_as_statsmodels_has_them)
kappa_linear
    formula: Cohen 1968, Psychological Bulletin 70, 213-220; weights of Cicchetti and Allison 1971
    example: SAS, PROC FREQ (test_kappa_of_the_sas_example); R package irr
        (test_weighted_kappa_of_the_anxiety_raters); irrCAC (test_coefficients_of_two_methods_of_diagnosis)
    second: sklearn (test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them); statsmodels
        (test_kappas_as_statsmodels_has_them)
kappa_quadratic
    formula: Cohen 1968; weights of Fleiss and Cohen 1973, Educational and Psychological Measurement 33, 613-619
    example: R package irr (test_weighted_kappa_of_the_anxiety_raters); irrCAC (test_coefficients_of_two_abstractors,
        test_coefficients_of_two_methods_of_diagnosis)
    second: sklearn (test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them); statsmodels
        (test_kappas_as_statsmodels_has_them)
ac1
    formula: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, 29-48
    example: irrCAC, Gwet 2014 (test_gwets_coefficients_of_four_raters, test_coefficients_of_two_abstractors,
        test_coefficients_of_two_methods_of_diagnosis, test_coefficients_of_five_observers)
    second: statsmodels, two kappas solved for it (test_ac1_and_percent_from_the_two_kappas_of_statsmodels); with gaps
        the definition, pair by pair (test_gwet_and_percent_by_their_definitions)
ac2
    formula: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, chapter 3; quadratic weights
    example: irrCAC, Gwet 2014 (test_gwets_coefficients_of_four_raters, test_coefficients_of_two_abstractors,
        test_coefficients_of_two_methods_of_diagnosis, test_weighted_coefficients_of_fifteen_diagnoses)
    second: nltk and statsmodels, put together (test_ac2_from_nltks_disagreement_and_the_kappas_of_statsmodels); with
        gaps the definition, pair by pair (test_gwet_and_percent_by_their_definitions)
percent
    formula: Gwet 2014, chapter 2 (many assessors, gaps)
    example: irrCAC (test_gwets_coefficients_of_four_raters, test_coefficients_of_two_abstractors,
        test_coefficients_of_five_observers); DescTools (test_percentages_of_the_r_package_desctools)
    second: sklearn (test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them); nltk
        (test_percentages_as_nltk_has_them); statsmodels (test_ac1_and_percent_from_the_two_kappas_of_statsmodels); with
        gaps the definition, pair by pair (test_gwet_and_percent_by_their_definitions)
percent_within_one
    formula: as percent, with a distance of one counted as agreement
    example: DescTools, tolerance 1 (test_percentages_of_the_r_package_desctools)
    second: nltk (test_percentages_as_nltk_has_them); with gaps the definition, pair by pair
        (test_gwet_and_percent_by_their_definitions)
binarised
    formula: any of them on grade >= t; linear kappa is the weighted mean of these kappas (Vanbelle and Albert 2009)
    example: SAS and irrCAC through that mean (test_binarised_kappas_average_to_the_published_linear_kappa); no
        published value of a kappa binarised at a grade of an ordered scale was found
    second: statsmodels, sklearn (test_binarised_coefficients_of_two_as_other_code_has_them); krippendorff
        (test_binarised_alphas_and_gwets_of_many_as_other_code_has_them)
many_assessors
    formula: kappas: Conger 1980, Psychological Bulletin 88, 322-328; rho, tau: mean over every two assessors who share
        five pairs or more, weighted by how many they share
    example: R package irr, exact kappa (test_kappa_of_many_is_congers_on_fleiss_diagnoses); for rho, tau and the
        weighted kappas of many no published value with its data was found
    second: scipy, with gaps (test_rank_correlations_of_many_as_the_weighted_mean_over_their_pairs); the definition,
        with gaps (test_kappa_of_many_by_its_definition)

`test_coefficient_invariants.py` holds the properties: swapped and absent assessors, order of pairs, renamed, reversed,
shifted and stretched grades, duplicated pairs, perfect and independent ratings.
"""
