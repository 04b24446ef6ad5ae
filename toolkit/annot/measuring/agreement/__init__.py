"""Agreement between assessors: coefficients, intervals and tables.

Every coefficient is computed from tables of counts, which may be weighted or those of many sets of pairs. None has a
value where the ratings are degenerate. On CSFCube's ratings they give what its paper prints. `tests/agreement/` holds
each against published data with a published value, and against a second implementation on drawn ratings.

The formula of each coefficient, and its published examples:

spearman_rho
    formula: Spearman 1904, American Journal of Psychology 15, 72-101; ties: Kendall 1970, Rank Correlation Methods
    example: Kendall 1970, example 3.1, his formula by hand; Wikipedia, without ties
kendall_tau_b
    formula: Kendall 1945, Biometrika 33, 239-251
    example: Kendall 1970, example 3.1; R, cor.test
alpha_ordinal
    formula: Krippendorff 2011, Computing Krippendorff's alpha-reliability, page 6
    example: the same, section D, four observers, gaps
alpha_nominal
    formula: Krippendorff 2011
    example: the same, sections A and C; irrCAC; Fleiss 1971
alpha_interval
    formula: Krippendorff 2011
    example: the same, section D; irrCAC, quadratic weights
kappa
    formula: Cohen 1960, Educational and Psychological Measurement 20, 37-46; of many, see `many_assessors`
    example: the same, two tables; SAS, PROC FREQ; R package irr; irrCAC
kappa_linear
    formula: Cohen 1968, Psychological Bulletin 70, 213-220; weights of Cicchetti and Allison 1971
    example: SAS, PROC FREQ; R package irr; irrCAC
kappa_quadratic
    formula: Cohen 1968; weights of Fleiss and Cohen 1973, Educational and Psychological Measurement 33, 613-619
    example: R package irr; irrCAC
ac1
    formula: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, 29-48
    example: irrCAC, Gwet 2014
ac2
    formula: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, chapter 3; quadratic weights
    example: irrCAC, Gwet 2014
percent
    formula: Gwet 2014, chapter 2 (many assessors, gaps)
    example: irrCAC; DescTools
percent_within_one
    formula: as percent, with a distance of one counted as agreement
    example: DescTools, tolerance 1
binarised
    formula: any of them on grade >= t; linear kappa is the weighted mean of these kappas (Vanbelle and Albert 2009)
    example: SAS and irrCAC through that mean; no published value of a kappa binarised at a grade of an ordered
        scale was found
many_assessors
    formula: kappas: Conger 1980, Psychological Bulletin 88, 322-328; rho, tau: mean over every two assessors who
        share five pairs or more, weighted by how many they share
    example: R package irr, exact kappa; for rho, tau and the weighted kappas of many no published value with its
        data was found

`test_coefficient_invariants.py` holds the properties: swapped and absent assessors, order of pairs, renamed, reversed,
shifted and stretched grades, duplicated pairs, perfect and independent ratings.
"""
