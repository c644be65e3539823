CREATE TABLE customers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, city TEXT NOT NULL COLLATE NOCASE, phone TEXT
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
    product TEXT NOT NULL COLLATE NOCASE, amount NUMERIC NOT NULL, ordered_on TEXT NOT NULL
);
INSERT INTO customers VALUES
    (1, 'Ada', 'Oslo', '555-0101'), (2, 'Ben', 'Rome', '555-0102'), (3, 'Cleo', 'Oslo', NULL), (4, 'Dev', 'Kyiv', '555-0104');
INSERT INTO orders VALUES
    (1, 1, 'lamp', 45, '2026-01-12'), (2, 1, 'desk', 210, '2026-02-03'), (3, 2, 'lamp', 45, '2026-02-17'),
    (4, 3, 'chair', 80, '2026-03-01'), (5, 4, 'desk', 190, '2026-03-09'), (6, 2, 'chair', 85, '2026-03-20');
