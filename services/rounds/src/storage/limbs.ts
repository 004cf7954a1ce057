/** A sum of minor units in four 64-bit integers that the database can add to: a coin's units do not fit into one. */
export type Limbs = { readonly a: bigint; readonly b: bigint; readonly c: bigint; readonly d: bigint }

const base = 1_000_000_000n

/** value = a + b·10⁹ + c·10¹⁸ + d·10²⁷, every part with the sign of the value; parts of many values may simply be added. */
export function toLimbs(value: bigint): Limbs {
  return {
    a: value % base,
    b: (value / base) % base,
    c: (value / base ** 2n) % base,
    d: value / base ** 3n,
  }
}

/** The sum again, also of parts that have outgrown their base. */
export function fromLimbs({ a, b, c, d }: Limbs): bigint {
  return BigInt(a) + BigInt(b) * base + BigInt(c) * base ** 2n + BigInt(d) * base ** 3n
}

export function addLimbs(x: Limbs, y: Limbs): Limbs {
  return { a: x.a + y.a, b: x.b + y.b, c: x.c + y.c, d: x.d + y.d }
}
