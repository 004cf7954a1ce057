import { type Rational, rational } from '@pitboss/money/rational'

/** A least stake below so many minor units would lose too much of a win to the cut. Source: ours. */
const leastMinor = 10n

/** The amount of 1, 2 or 5 and zeros nearest in value to dollars (a decimal), in minor units of `digits`. */
export function roundValue(dollars: string, unitsPerDollar: string, digits: number): bigint {
  const value = inMinor(readDecimal(dollars), readDecimal(unitsPerDollar), digits)
  let below = 1n
  for (let step = 0; ; step++) {
    const above = step % 3 === 1 ? (below * 5n) / 2n : below * 2n
    // Nearest by ratio: the geometric mean of two neighbours is the border.
    if (value.n * value.n < below * above * value.d * value.d) break
    below = above
  }
  return below < leastMinor ? leastMinor : below
}

function inMinor(dollars: Rational, units: Rational, digits: number): Rational {
  return rational(dollars.n * units.n * 10n ** BigInt(digits), dollars.d * units.d)
}

function readDecimal(text: string): Rational {
  const [whole = '0', decimals = ''] = text.split('.')
  return rational(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
}
