/** A picture of a board: what it shows, and the queries that Prometheus answers. */
export type Panel = {
  readonly title: string
  /** A sentence for the reader: when to worry. */
  readonly says: string
  /** Grafana's name of the unit. */
  readonly unit: 's' | 'short' | 'reqps' | 'ops' | 'percentunit' | 'bytes'
  readonly queries: readonly { readonly expr: string; readonly legend: string }[]
  /** Where trouble begins; drawn as a line. */
  readonly limit?: number
  /** The alerts whose page of the handbook shows this panel. */
  readonly alerts?: readonly string[]
}

export type Board = {
  /** Its file, and its address in Grafana. */
  readonly name: string
  readonly title: string
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[]
}

/** Every query of a board is about one installation: Grafana sets the variable. */
export const here = 'namespace="$namespace"'

/** The median, 95th and 99th percentile of a histogram over five minutes. */
export function percentiles(histogram: string, labels = here): Panel['queries'] {
  return [0.5, 0.95, 0.99].map((share) => ({
    expr: `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket{${labels}}[5m])))`,
    legend: `p${share * 100}`,
  }))
}

/** The recorded share of bad ones of an objective of `slo.yaml`: of five minutes, an hour and three days. */
export function badShares(objective: string): Panel['queries'] {
  const windows = { '5m': '5 minutes', '1h': 'an hour', '3d': 'three days' }
  return Object.entries(windows).map(([window, words]) => ({
    expr: `pitboss:${objective}:bad_ratio_${window}{${here}}`,
    legend: `of ${words}`,
  }))
}
