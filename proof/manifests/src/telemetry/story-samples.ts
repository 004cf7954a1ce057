const minuteS = 60
const durationS: Readonly<Record<string, number>> = { m: minuteS, h: 60 * minuteS, d: 24 * 60 * minuteS }

/** Seconds of a duration such as `5m`. @throws RangeError for what is none */
export function secondsOf(text: string): number {
  const [, number, unit = ''] = /^([0-9]+)([mhd])$/.exec(text) ?? []
  const unitS = durationS[unit]
  if (unitS === undefined) throw new RangeError(`${text} is no duration`)
  return Number(number) * unitS
}

/**
 * The values of a series in promtool's notation: `5`, `1x3` (four times 1), `0+10x2` (0, 10, 20), `_x2` (two
 * gaps). Null is a gap. @throws RangeError for anything else
 */
export function valuesOf(notation: string): readonly (number | null)[] {
  return notation.split(' ').flatMap((term) => {
    const gaps = /^_(?:x([0-9]+))?$/.exec(term)
    if (gaps !== null) return Array.from({ length: Number(gaps[1] ?? 1) }, () => null)
    const [, first, step = '+0', times = '0'] = /^(-?[0-9.]+)([+-][0-9.]+)?(?:x([0-9]+))?$/.exec(term) ?? []
    if (first === undefined) throw new RangeError(`${term} is not in promtool's notation`)
    return Array.from({ length: Number(times) + 1 }, (_, index) => Number(first) + index * Number(step))
  })
}

/**
 * Series as OpenMetrics text, for `promtool tsdb create-blocks-from openmetrics`: the first value at `startS`
 * (seconds since 1970), one every `everyS`. Samples of a series stay together.
 */
export function openMetricsOf(
  series: Readonly<Record<string, string>>,
  { startS, everyS }: { startS: number; everyS: number },
): readonly string[] {
  return Object.entries(series).flatMap(([name, notation]) =>
    valuesOf(notation).flatMap((value, index) =>
      value === null ? [] : [`${name} ${value} ${startS + index * everyS}`],
    ),
  )
}
