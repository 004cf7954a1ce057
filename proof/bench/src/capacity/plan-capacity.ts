/** A stretch of work on one machine: its rate, and the processor seconds a second of services and engines. */
export type MeasuredPoint = {
  readonly roundsPerSecond: number
  readonly services: number
  readonly engines: number
}

/** What a part of the work costs, by measurement. Parts are the services and `engines`. */
export type Costs = {
  /** Processor milliseconds that one round more costs. */
  readonly roundMs: Readonly<Record<string, number>>
  readonly readMs: Readonly<Record<string, number>>
  /** Processor seconds a second that a replica at work spends whatever the rate: polls, batches, timers. */
  readonly fixed: Readonly<Record<string, number>>
  /** Bytes of documents a round by database, and of `events_stream`. */
  readonly bytesPerRound: Readonly<Record<string, number>>
  /** Versions of documents a round, by database. */
  readonly versionsPerRound: Readonly<Record<string, number>>
  readonly eventsPerRound: number
  readonly walletCallsPerRound: number
}

/** What an installation is built of. */
export type Ground = {
  /** Cores that a replica asks for, by service, of which the scaler lets it use the share. */
  readonly coresAsked: Readonly<Record<string, number>>
  readonly shareOfCores: number
  readonly replicasMin: number
  readonly replicasMax: Readonly<Record<string, number>>
  /** Versions of documents that one primary takes a second. Nobody has measured it: an assumption. */
  readonly versionsPerPrimary: number
  /** Bytes that the stream may hold, and hours that events stay there. */
  readonly streamBytesMax: number
  readonly streamHours: number
  /** Attempts in flight at an endpoint, and the time of its receiver to answer. */
  readonly endpointInFlight: number
  readonly receiverMs: number
}

export type Demand = {
  readonly operators: number
  readonly roundsPerSecond: number
  readonly readsPerRound: number
}

/** Something that has an end, by the rounds a second at which it is reached. */
export type Limit = { readonly name: string; readonly roundsPerSecond: number; readonly remedy: string }

export type Plan = {
  readonly services: readonly { name: string; cores: number; replicas: number }[]
  readonly engineCores: number
  readonly natsNodes: number
  readonly eventsPerSecond: number
  readonly walletCallsPerSecond: number
  readonly streamBytes: number
  readonly databases: readonly {
    name: string
    versionsPerSecond: number
    shards: number
    bytesPerMonth: number
  }[]
  /** The nearest first. */
  readonly limits: readonly Limit[]
}

const secondsPerHour = 3600
const secondsPerDay = 86_400
const daysPerMonth = 30
const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']

/**
 * The line through two points: processor seconds a second at rate 0, and milliseconds of a round.
 * @throws RangeError for two points of one rate
 */
export function lineThrough(
  [low, high]: readonly [MeasuredPoint, MeasuredPoint],
  part: 'services' | 'engines',
): { fixed: number; roundMs: number } {
  const apart = high.roundsPerSecond - low.roundsPerSecond
  if (apart === 0) throw new RangeError('two points of one rate make no line')
  const perRound = (high[part] - low[part]) / apart
  return { fixed: low[part] - perRound * low.roundsPerSecond, roundMs: perRound * 1000 }
}

/** Processor seconds a second of a part at a demand, without what its replicas spend at any rate. */
export function coresOf(part: string, costs: Costs, { roundsPerSecond, readsPerRound }: Demand): number {
  const perRoundMs = (costs.roundMs[part] ?? 0) + readsPerRound * (costs.readMs[part] ?? 0)
  return (roundsPerSecond * perRoundMs) / 1000
}

/**
 * What an installation needs for a demand, and where it ends. Pure arithmetic: each part costs something at
 * any rate and the same for each round, which measured points bear out on one machine and nothing beyond.
 */
export function planCapacity(costs: Costs, ground: Ground, demand: Demand): Plan {
  const { roundsPerSecond } = demand
  const perMonth = secondsPerDay * daysPerMonth * roundsPerSecond
  return {
    services: services.map((name) => {
      const { cores, replicas } = replicasOf(name, costs, ground, demand)
      return { name, cores, replicas }
    }),
    engineCores: (costs.fixed.engines ?? 0) + coresOf('engines', costs, demand),
    natsNodes: 3,
    eventsPerSecond: roundsPerSecond * costs.eventsPerRound,
    walletCallsPerSecond: roundsPerSecond * costs.walletCallsPerRound,
    streamBytes: streamBytesPerRate(costs, ground) * roundsPerSecond,
    databases: Object.entries(costs.versionsPerRound).map(([name, versions]) => ({
      name,
      versionsPerSecond: versions * roundsPerSecond,
      shards: Math.max(1, Math.ceil((versions * roundsPerSecond) / ground.versionsPerPrimary)),
      bytesPerMonth: (costs.bytesPerRound[name] ?? 0) * perMonth,
    })),
    limits: limitsOf(costs, ground, demand),
  }
}

/** The limits that a demand `times` as great passes, the nearest first. */
export function passedAt(plan: Pick<Plan, 'limits'>, demand: Demand, times: number): readonly Limit[] {
  return plan.limits.filter((limit) => limit.roundsPerSecond < demand.roundsPerSecond * times)
}

function replicasOf(name: string, costs: Costs, ground: Ground, demand: Demand) {
  const usable = (ground.coresAsked[name] ?? 0) * ground.shareOfCores
  const work = coresOf(name, costs, demand)
  const fixed = costs.fixed[name] ?? 0
  const replicas = Math.max(ground.replicasMin, Math.ceil(work / (usable - fixed)))
  return { cores: work + replicas * fixed, replicas }
}

function streamBytesPerRate(costs: Costs, { streamHours }: Ground): number {
  return (costs.bytesPerRound.events_stream ?? 0) * secondsPerHour * streamHours
}

function limitsOf(costs: Costs, ground: Ground, demand: Demand): Limit[] {
  const oneRound = { ...demand, roundsPerSecond: 1 }
  const ofScalers = services.map((name) => {
    const usable = (ground.coresAsked[name] ?? 0) * ground.shareOfCores - (costs.fixed[name] ?? 0)
    const replicasMax = ground.replicasMax[name] ?? 0
    return {
      name: `${name}: ${replicasMax} replicas, the most that its scaler makes`,
      roundsPerSecond: (usable * replicasMax) / coresOf(name, costs, oneRound),
      remedy: 'raise maxReplicas, or the cores that a replica asks for',
    }
  })
  const ofPrimaries = Object.entries(costs.versionsPerRound).map(([name, versions]) => ({
    name: `${name}: one primary takes ${ground.versionsPerPrimary} versions a second (assumed)`,
    roundsPerSecond: ground.versionsPerPrimary / versions,
    remedy:
      'a replica set of its own; a larger server; then sharding, which needs code (scaling.md, the plan)',
  }))
  const endpointRate = (ground.endpointInFlight / ground.receiverMs) * 1000
  return [
    ...ofScalers,
    ...ofPrimaries,
    {
      name: 'recording of events: one replica of webhooks at a time, on one core',
      roundsPerSecond: 1000 / (costs.roundMs.webhooks ?? Infinity),
      remedy: 'a faster core; events are late, play goes on. Then partitions, which need code',
    },
    {
      name: `the stream: ${ground.streamHours} hours of events in ${Math.round(ground.streamBytesMax / 1e9)} GB, kept up for as long`,
      roundsPerSecond: ground.streamBytesMax / streamBytesPerRate(costs, ground),
      remedy: 'a larger volume, or fewer hours (ops topology apply --events-hours)',
    },
    {
      name: `an endpoint of an operator: ${ground.endpointInFlight} in flight at ${ground.receiverMs} ms`,
      roundsPerSecond: (endpointRate / costs.eventsPerRound) * demand.operators,
      remedy: 'max_in_flight up to 64, further endpoints, or GET /v1/events',
    },
  ].toSorted((a, b) => a.roundsPerSecond - b.roundsPerSecond)
}
