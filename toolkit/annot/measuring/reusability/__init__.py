"""Whether systems that did not help to build the pools can be measured on them."""
