/** Work at a steady rate on one machine, and the processor seconds a second of each part. */
export type MeasuredPoint = {
  readonly roundsPerSecond: number
  readonly cores: Readonly<Record<string, number>>
}

/** What a part of the work costs, by measurement. Parts are the services and `engines`. */
export type Costs = {
  /** Of one replica of each service, the lowest rate first. */
  readonly points: readonly [MeasuredPoint, MeasuredPoint, ...MeasuredPoint[]]
  /** Processor milliseconds of a read. */
  readonly readMs: Readonly<Record<string, number>>
  /** Bytes of documents a round by database, and of `events_stream`. */
  readonly bytesPerRound: Readonly<Record<string, number>>
  /** Documents inserted a round, by database. */
  readonly documentsPerRound: Readonly<Record<string, number>>
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
  /** Documents that one primary inserts a second. Nobody has measured it: an assumption. */
  readonly documentsPerPrimary: number
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
    documentsPerSecond: number
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
 * Processor seconds a second of one replica at a rate. Between measured points a line; beyond the last one in
 * proportion to it, though batches may grow further.
 */
export function coresAt(
  part: string,
  { points, readMs }: Costs,
  { roundsPerSecond, readsPerRound }: Omit<Demand, 'operators'>,
): number {
  const reads = (roundsPerSecond * readsPerRound * (readMs[part] ?? 0)) / 1000
  const ofPart = ({ cores }: MeasuredPoint) => cores[part] ?? 0
  let [low] = points
  if (roundsPerSecond <= low.roundsPerSecond) return ofPart(low) + reads
  for (const high of points) {
    const apart = high.roundsPerSecond - low.roundsPerSecond
    if (roundsPerSecond <= high.roundsPerSecond) {
      const share = (roundsPerSecond - low.roundsPerSecond) / apart
      return ofPart(low) + share * (ofPart(high) - ofPart(low)) + reads
    }
    low = high
  }
  return (ofPart(low) * roundsPerSecond) / low.roundsPerSecond + reads
}

/** The greatest rate at which one replica needs no more than so many cores, to a thousandth of it. */
function rateWithin(part: string, costs: Costs, readsPerRound: number, cores: number): number {
  const fits = (roundsPerSecond: number) => coresAt(part, costs, { roundsPerSecond, readsPerRound }) <= cores
  let high = 1
  while (fits(high)) high *= 2
  let low = 0
  while (high - low > high / 1000) {
    const middle = (low + high) / 2
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

/**
 * What an installation needs for a demand, and where it ends. Pure arithmetic: each replica costs what one
 * cost on the measured machine at the same rate.
 */
export function planCapacity(costs: Costs, ground: Ground, demand: Demand): Plan {
  const { roundsPerSecond } = demand
  const perMonth = secondsPerDay * daysPerMonth * roundsPerSecond
  return {
    services: services.map((name) => replicasOf(name, costs, ground, demand)),
    engineCores: coresAt('engines', costs, demand),
    natsNodes: 3,
    eventsPerSecond: roundsPerSecond * costs.eventsPerRound,
    walletCallsPerSecond: roundsPerSecond * costs.walletCallsPerRound,
    streamBytes: streamBytesPerRate(costs, ground) * roundsPerSecond,
    databases: Object.entries(costs.documentsPerRound).map(([name, documents]) => ({
      name,
      documentsPerSecond: documents * roundsPerSecond,
      shards: Math.max(1, Math.ceil((documents * roundsPerSecond) / ground.documentsPerPrimary)),
      bytesPerMonth: (costs.bytesPerRound[name] ?? 0) * perMonth,
    })),
    limits: limitsOf(costs, ground, demand),
  }
}

/** The limits that a demand `times` as great passes, the nearest first. */
export function passedAt(plan: Pick<Plan, 'limits'>, demand: Demand, times: number): readonly Limit[] {
  return plan.limits.filter((limit) => limit.roundsPerSecond < demand.roundsPerSecond * times)
}

/** The greatest rate of one replica, as far as its scaler lets it go. */
function replicaRate(name: string, costs: Costs, ground: Ground, readsPerRound: number): number {
  return rateWithin(name, costs, readsPerRound, (ground.coresAsked[name] ?? 0) * ground.shareOfCores)
}

function replicasOf(name: string, costs: Costs, ground: Ground, demand: Demand) {
  const { roundsPerSecond, readsPerRound } = demand
  const needed = Math.ceil(roundsPerSecond / replicaRate(name, costs, ground, readsPerRound))
  const replicas = Math.max(ground.replicasMin, needed)
  const ofOne = coresAt(name, costs, { ...demand, roundsPerSecond: roundsPerSecond / replicas })
  return { name, cores: replicas * ofOne, replicas }
}

function streamBytesPerRate(costs: Costs, { streamHours }: Ground): number {
  return (costs.bytesPerRound.events_stream ?? 0) * secondsPerHour * streamHours
}

function limitsOf(costs: Costs, ground: Ground, demand: Demand): Limit[] {
  const ofScalers = services.map((name) => {
    const replicasMax = ground.replicasMax[name] ?? 0
    return {
      name: `${name}: ${replicasMax} replicas, the most that its scaler makes`,
      roundsPerSecond: replicaRate(name, costs, ground, demand.readsPerRound) * replicasMax,
      remedy: 'raise maxReplicas, or the cores that a replica asks for',
    }
  })
  const ofPrimaries = Object.entries(costs.documentsPerRound).map(([name, documents]) => ({
    name: `${name}: one primary takes ${ground.documentsPerPrimary} documents a second (assumed)`,
    roundsPerSecond: ground.documentsPerPrimary / documents,
    remedy: 'a replica set of its own; a larger server; then sharding (scaling.md, the plan)',
  }))
  const endpointRate = (ground.endpointInFlight / ground.receiverMs) * 1000
  return [
    ...ofScalers,
    ...ofPrimaries,
    {
      name: 'recording of events: one replica of webhooks at a time, on one core',
      roundsPerSecond: rateWithin('webhooks', costs, 0, 1),
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
