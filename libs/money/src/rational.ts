const MULTIPLIER_DECIMALS = 4

/** An exact fraction in lowest terms with a positive denominator. */
export type Rational = { readonly n: bigint; readonly d: bigint }

/** The fraction n/d in lowest terms. @throws RangeError when d is zero. */
export function rational(n: bigint, d = 1n): Rational {
  if (d === 0n) throw new RangeError('a fraction needs a denominator other than zero')
  const divisor = greatestCommonDivisor(n, d) * (d < 0n ? -1n : 1n)
  return { n: n / divisor, d: d / divisor }
}

/** a × b in lowest terms. */
export function multiplyRational(a: Rational, b: Rational): Rational {
  return rational(a.n * b.n, a.d * b.d)
}

/** Negative, zero or positive as a is less than, equal to or greater than b. */
export function compareRational(a: Rational, b: Rational): -1 | 0 | 1 {
  const difference = a.n * b.d - b.n * a.d
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** minor × r, rounded towards minus infinity. Source: docs/contract.md, section 4, payouts. */
export function multiplyFloor(minor: bigint, r: Rational): bigint {
  return floorDivide(minor * r.n, r.d)
}

/** A multiplier as shown, cut (not rounded) to 4 decimals: "1.9800". Source: docs/contract.md, section 4. */
export function formatMultiplier(r: Rational): string {
  return formatDecimal(r, MULTIPLIER_DECIMALS)
}

/** A fraction from zero on, cut to `decimals` (1 to 18) places; 99/100 with 4 is "0.9900". */
export function formatDecimal(r: Rational, decimals: number): string {
  const scaled = floorDivide(r.n * 10n ** BigInt(decimals), r.d)
  const text = scaled.toString().padStart(decimals + 1, '0')
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

/** "33/32", or "24" for whole numbers. */
export function rationalToText(r: Rational): string {
  return r.d === 1n ? r.n.toString() : `${r.n}/${r.d}`
}

function floorDivide(n: bigint, d: bigint): bigint {
  const quotient = n / d
  return n % d !== 0n && n < 0n ? quotient - 1n : quotient
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  while (y > 0n) [x, y] = [y, x % y]
  return x
}
