import commitgate.automaton.numbers as n
def accept_term(arena, s, is_literal_integer=False):
    return n.NumberText.make(arena, n.NumberIn(s.values) if s.values is not None else (n.AnyInteger() if s.divisor==1 else n.AnyNumber()))
def generate_term(arena, s, integer_digits, fraction_digits):
    if s.values is not None: return arena.literal_set(tuple(sorted({n.plain_number(v).encode() for v in s.values})))
    return n.generated_number(arena, is_integer=s.divisor==1, integer_digits=integer_digits, fraction_digits=fraction_digits)
