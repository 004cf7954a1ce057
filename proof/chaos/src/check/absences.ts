/** A time, in ms of the epoch, in which one replica of a service was dead, or stood still. */
export type Absence = {
  readonly service: string
  readonly replica: number
  readonly fromMs: number
  readonly untilMs: number
}

/** The absences of one service that has so many replicas. */
export type Absences = { readonly replicas: number; readonly times: readonly Absence[] }

/** Milliseconds between `fromMs` and `untilMs` in which every replica was absent. */
export function nobodyStoodMs({ replicas, times }: Absences, fromMs: number, untilMs: number): number {
  const edges = times.flatMap((one) => [one.fromMs, one.untilMs]).concat(fromMs, untilMs)
  const instants = [...new Set(edges)].filter((at) => at >= fromMs && at <= untilMs).sort((a, b) => a - b)
  let sumMs = 0
  for (const [index, until] of instants.entries()) {
    const from = instants[index - 1]
    if (from === undefined) continue
    const away = times.filter((one) => one.fromMs <= from && one.untilMs >= until)
    if (new Set(away.map(({ replica }) => replica)).size === replicas) sumMs += until - from
  }
  return sumMs
}
