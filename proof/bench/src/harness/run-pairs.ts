import type { Latency } from './latency.ts'
import type { Sample } from './run-load.ts'

export type Side = (concurrency: number, durationMs: number) => Promise<Sample>

/** The same work on the product and on its floor, at one concurrency. */
export type Comparison = {
  concurrency: number
  product: Summary
  floor: Summary
  /** Ratios of the rates, pair by pair. */
  ratio: { median: number; least: number; most: number }
}
export type Summary = { rate: number; latencyMs: Latency; failed: number; samples: Sample[] }

export type PairPlan = {
  pairs: number
  durationMs: number
  warmUpMs: number
  concurrencies: readonly number[]
}

/**
 * Runs product and floor in turn (A B A B …), after a warm-up of both, so that other load on the machine
 * meets both alike. Rates and percentiles are the medians over the pairs.
 */
export async function runPairs(
  { pairs, durationMs, warmUpMs, concurrencies }: PairPlan,
  { product, floor }: { product: Side; floor: Side },
  onProgress: (text: string) => void,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = []
  for (const concurrency of concurrencies) {
    await product(concurrency, warmUpMs)
    await floor(concurrency, warmUpMs)
    const samples: { product: Sample; floor: Sample }[] = []
    for (let pair = 1; pair <= pairs; pair++) {
      const measured = {
        product: await product(concurrency, durationMs),
        floor: await floor(concurrency, durationMs),
      }
      samples.push(measured)
      const rates = `product ${measured.product.rate.toFixed(0)}/s, floor ${measured.floor.rate.toFixed(0)}/s`
      onProgress(`concurrency ${concurrency}, pair ${pair} of ${pairs}: ${rates}`)
    }
    const ratios = samples.map((each) => each.product.rate / each.floor.rate)
    comparisons.push({
      concurrency,
      product: summarise(samples.map((each) => each.product)),
      floor: summarise(samples.map((each) => each.floor)),
      ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    })
  }
  return comparisons
}

/** The medians of several samples. */
export function summarise(samples: Sample[]): Summary {
  const over = (pick: (sample: Sample) => number) => median(samples.map(pick))
  return {
    rate: over(({ rate }) => rate),
    latencyMs: {
      p50: over(({ latencyMs }) => latencyMs.p50),
      p95: over(({ latencyMs }) => latencyMs.p95),
      p99: over(({ latencyMs }) => latencyMs.p99),
      max: Math.max(...samples.map(({ latencyMs }) => latencyMs.max)),
    },
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
    samples,
  }
}

/** @throws RangeError for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  if (upper === undefined || lower === undefined) throw new RangeError('no values')
  return (upper + lower) / 2
}
