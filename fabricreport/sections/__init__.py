"""The memo's sections, one room each: what it asks (`inputs`), finds (`study`), prints (`figures`) and draws (`charts`)."""
