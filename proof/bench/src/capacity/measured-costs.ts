import { type Costs, type Ground, lineThrough, type MeasuredPoint } from './plan-capacity.ts'

/**
 * Points on one machine of two cores that other work kept busy, a replica of each service, rounds of dice of
 * which half won, embedded engines. Source: docs/capacity.md.
 */
export const measuredPoints: readonly [MeasuredPoint, MeasuredPoint, MeasuredPoint] = [
  // 26 November, 2 and 12 callers, `npm run capacity -- --measure`
  { roundsPerSecond: 8.99, services: 0.4424, engines: 0.4079 },
  { roundsPerSecond: 14.35, services: 0.4727, engines: 0.4415 },
  // 23 November, 8 callers: 15.866 and 17.158 ms a round (docs/benchmarks.md, "Beside an earlier build")
  { roundsPerSecond: 49, services: 0.7774, engines: 0.8407 },
]

const [lowest, , highest] = measuredPoints
const ends = [lowest, highest] as const
const ofServices = lineThrough(ends, 'services')
const ofEngines = lineThrough(ends, 'engines')

/** Parts of the services in their processor time, at 14.35 rounds a second. */
const shares: Readonly<Record<string, number>> = {
  gateway: 0.071,
  auth: 0.03,
  rounds: 0.314,
  'wallet-bridge': 0.289,
  webhooks: 0.296,
}

const shared = (sum: number) =>
  Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, share * sum]))

/** The costs of docs/capacity.md. */
export const costs: Costs = {
  roundMs: { ...shared(ofServices.roundMs), engines: ofEngines.roundMs },
  fixed: { ...shared(ofServices.fixed), engines: ofEngines.fixed },
  // Two callers on the busy machine: more than the 0.5 ms of all services that a quiet one showed.
  readMs: { gateway: 0.81, auth: 0.54, rounds: 0.8, engines: 0.99 },
  bytesPerRound: { rounds: 2629, wallet_bridge: 3045, webhooks: 6719, events_stream: 3161 },
  // Means of won and lost: docs/benchmarks.md, "What a round may cost".
  versionsPerRound: { rounds: 5.5, wallet_bridge: 4.5, webhooks: 11.5 },
  eventsPerRound: 3.5,
  walletCallsPerRound: 1.5,
}

/** What production's overlay of deploy/k8s gives, and what nobody has measured. */
export const ground: Ground = {
  coresAsked: { gateway: 0.5, auth: 0.25, rounds: 0.5, 'wallet-bridge': 0.5, webhooks: 0.5 },
  shareOfCores: 0.65,
  replicasMin: 3,
  replicasMax: { gateway: 20, auth: 8, rounds: 20, 'wallet-bridge': 8, webhooks: 8 },
  versionsPerPrimary: 20_000,
  streamBytesMax: 16_384 * 2 ** 20,
  streamHours: 20,
  endpointInFlight: 8,
  receiverMs: 50,
}

/** The rate that production's overlay is sized for. Source: docs/capacity.md. */
export const sizedFor = { operators: 20, roundsPerSecond: 50 }
