"""The memo's body: what each kind of question finds beside its sections, and the words of its prose."""
