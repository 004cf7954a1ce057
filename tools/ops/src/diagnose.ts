import type { TopologyChange } from '@pitboss/bus/apply-topology'
import { clockDifferenceMaxMs } from '@pitboss/runtime/clock'
import type { ConsumerView } from './consumer-view.ts'
import type { ServiceRow } from './ping-services.ts'

type StreamFacts = {
  readonly name: string
  /** Servers that keep it, and those of them that lag behind or are away. */
  readonly replicas: number
  readonly late: number
  /** What it holds, and may hold; `max` null for no bound. */
  readonly bytes: number
  readonly max: number | null
  /** Hours for which it keeps a message. */
  readonly hours: number
}

/** The state of an installation; null for a part that did not answer. */
export type Facts = {
  readonly services: readonly ServiceRow[]
  readonly nats: {
    readonly version: string
    readonly tls: boolean
    /** Whether the server is on this machine. */
    readonly local: boolean
  }
  /** Bytes that JetStream holds for the account, and may hold; `max` null for no bound. */
  readonly storage: { readonly used: number; readonly max: number | null } | null
  readonly streams: readonly StreamFacts[] | null
  readonly topology: readonly TopologyChange[] | null
  readonly consumers: readonly ConsumerView[] | null
  readonly movements: {
    readonly pending: number
    readonly alarms: { readonly over_5m: number; readonly over_1h: number }
    readonly breakers_open: readonly string[]
  } | null
  readonly deliveries: {
    readonly oldest_due_at: string | null
    readonly parked: number
    readonly paused_endpoints: number
  } | null
  readonly rounds: { readonly unfinished: number } | null
  readonly database: { readonly version: string; readonly ping_ms: number } | null
  readonly keys: readonly { readonly status: string; readonly created_at: string }[] | null
}

/** `bad` wants somebody now, `warn` somebody this week. `remedy` is null where nothing is to be done. */
export type Finding = {
  readonly check: string
  readonly level: 'ok' | 'warn' | 'bad'
  readonly finding: string
  readonly remedy: string | null
}

const dayMs = 86_400_000
const keyDaysMax = 90
const lagS = { warn: 60, bad: 300 } as const
const dueS = { warn: 60, bad: 600 } as const
const pingMs = { warn: 100, bad: 1000 } as const
const storageShare = { warn: 0.7, bad: 0.9 } as const

/**
 * Judges an installation as a new person on call, or an auditor, would: one finding per check, in a fixed
 * order, each with what to do about it. Source: ours.
 */
export function diagnose(facts: Facts, now: Date): Finding[] {
  return [
    ...facts.services.flatMap(checkService),
    checkDatabase(facts.database),
    checkNats(facts.nats),
    checkStorage(facts.storage),
    ...checkStreams(facts.streams),
    ...checkRoom(facts.streams),
    checkTopology(facts.topology),
    ...checkConsumers(facts.consumers),
    checkMovements(facts.movements),
    checkDeliveries(facts.deliveries, now),
    checkRounds(facts.rounds),
    checkKeys(facts.keys, now),
  ]
}

function ok(check: string, finding: string): Finding {
  return { check, level: 'ok', finding, remedy: null }
}

function silent(check: string, who: string): Finding {
  return { check, level: 'bad', finding: `${who} does not answer`, remedy: 'ops status; then its log' }
}

/** The level of a value that is worse the higher it is. */
function levelOf(value: number, { warn, bad }: { readonly warn: number; readonly bad: number }) {
  if (value >= bad) return 'bad'
  return value >= warn ? 'warn' : 'ok'
}

function checkService({ name, replicas, versions, clock_ahead_ms: ahead }: ServiceRow): Finding[] {
  const check = `service ${name}`
  if (replicas === 0) return [silent(check, name)]
  const count: Finding =
    replicas === 1
      ? {
          ...{ check, level: 'warn', finding: 'one replica: its restart is felt' },
          remedy: 'run two replicas or more in production',
        }
      : ok(check, `${replicas} replicas`)
  const found = [count]
  if (versions.includes(',')) {
    found.push({
      ...{ check: `${check}: version`, level: 'warn', finding: `its replicas run ${versions}` },
      remedy: 'finish the roll-out, or take it back',
    })
  }
  if (ahead !== null && Math.abs(ahead) > clockDifferenceMaxMs) {
    found.push({
      ...{ check: `${check}: clock`, level: 'bad' },
      finding: `${ahead} ms ahead of the database's: it refuses to work`,
      remedy: 'set the clock of its node (chrony, systemd-timesyncd)',
    })
  }
  return found
}

function checkDatabase(database: Facts['database']): Finding {
  if (database === null) return silent('database', 'auth, or its database,')
  const { version, ping_ms: ms } = database
  return {
    check: 'database',
    level: levelOf(ms, pingMs),
    finding: `MongoDB ${version} answers in ${Math.round(ms)} ms`,
    remedy: ms < pingMs.warn ? null : 'look at its load, its disk and the way to it',
  }
}

function checkNats({ version, tls, local }: Facts['nats']): Finding {
  if (tls || local) return ok('nats', `version ${version}, ${tls ? 'TLS' : 'on this machine'}`)
  return {
    ...{ check: 'nats', level: 'warn', finding: `version ${version}, without TLS` },
    remedy: 'give the servers certificates, and the services tls:// in NATS_URL',
  }
}

function checkStorage(storage: Facts['storage']): Finding {
  if (storage === null) return silent('nats storage', 'JetStream')
  const { used, max } = storage
  const mb = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
  if (max === null) return ok('nats storage', `${mb(used)} used; the account has no bound of its own`)
  return {
    check: 'nats storage',
    level: levelOf(used / max, storageShare),
    finding: `${mb(used)} of ${mb(max)} used`,
    remedy: used / max < storageShare.warn ? null : 'make the volume larger; a full one stops new events',
  }
}

function checkStreams(streams: Facts['streams']): Finding[] {
  if (streams === null) return [silent('streams', 'JetStream')]
  return streams.map(({ name, replicas, late }) => {
    const check = `stream ${name}`
    if (late > 0) {
      const finding = `${late} of its ${replicas} servers are away or behind`
      return { check, level: 'bad', finding, remedy: 'nats stream report; start the missing server' }
    }
    if (replicas > 1) return ok(check, `kept by ${replicas} servers`)
    const remedy = 'ops topology apply --replicas 3, on a cluster of three servers'
    return { check, level: 'warn', finding: 'kept by one server: its disk is the only copy', remedy }
  })
}

/** A bucket's stream keeps one entry for each key, and has no bound. */
function checkRoom(streams: Facts['streams']): Finding[] {
  return (streams ?? [])
    .filter(({ name }) => !name.startsWith('KV_'))
    .map(({ name, bytes, max, hours }) => {
      const check = `room in ${name}`
      const mb = (count: number) => Math.ceil(count / 2 ** 20)
      const remedy = 'ops topology apply with --events-max-mb, below what the brokers may hold'
      if (max === null) {
        const finding = `${mb(bytes)} MiB, and no bound: it may fill the disk`
        return { check, level: 'warn', finding, remedy }
      }
      const share = bytes / max
      return {
        check,
        level: levelOf(share, storageShare),
        finding: `${mb(bytes)} of ${mb(max)} MiB, for ${hours} hours; a full stream refuses new play`,
        remedy: share < storageShare.warn ? null : `${remedy}, or fewer --events-hours`,
      }
    })
}

function checkTopology(topology: Facts['topology']): Finding {
  if (topology === null) return silent('topology', 'JetStream')
  const other = topology.filter(({ change }) => change !== 'none')
  if (other.length === 0) return ok('topology', 'streams and consumers are as this version declares them')
  const isMissing = other.some(({ change }) => change === 'created')
  const said = other.map(({ what, change, differences }) =>
    change === 'created' ? `${what} is missing` : `${what}: ${differences.join(', ')}`,
  )
  return {
    ...{ check: 'topology', level: isMissing ? 'bad' : 'warn', finding: said.join('; ') },
    remedy: 'ops topology apply --replicas N --dry-run, then without --dry-run',
  }
}

function checkConsumers(consumers: Facts['consumers']): Finding[] {
  if (consumers === null) return [silent('consumers', 'webhooks, which lists what is parked,')]
  return consumers.map(({ name, lag_s: lag, pending, paused, stalled }) => {
    const check = `consumer ${name}`
    if (paused)
      return { check, level: 'bad', finding: 'paused', remedy: `ops consumer resume ${name}, when it may` }
    return {
      check,
      level: stalled ? 'bad' : levelOf(lag, lagS),
      finding: lag === 0 ? 'nothing waits' : `${pending} events wait, the oldest for ${lag} s`,
      remedy:
        lag < lagS.warn && !stalled
          ? null
          : `ops consumer show ${name}; a replica more, or what it waits for`,
    }
  })
}

function checkMovements(movements: Facts['movements']): Finding {
  if (movements === null) return silent('movements', 'wallet-bridge')
  const { pending, alarms, breakers_open: open } = movements
  const wallets = open.length === 0 ? '' : `; wallets that do not answer: ${open.join(', ')}`
  return {
    check: 'movements',
    level: alarms.over_5m > 0 ? 'bad' : open.length > 0 ? 'warn' : 'ok',
    finding: `${pending} on their way, ${alarms.over_5m} for over 5 min, ${alarms.over_1h} for over 1 h${wallets}`,
    remedy:
      alarms.over_5m + open.length === 0 ? null : 'ops movement list --status PENDING; ops movement why REF',
  }
}

function checkDeliveries(deliveries: Facts['deliveries'], now: Date): Finding {
  if (deliveries === null) return silent('deliveries', 'webhooks')
  const { oldest_due_at: at, parked, paused_endpoints: paused } = deliveries
  const lateS = at === null ? 0 : Math.max(0, Math.floor((now.getTime() - Date.parse(at)) / 1000))
  const late = levelOf(lateS, dueS)
  return {
    check: 'deliveries',
    level: late === 'ok' && parked > 0 ? 'warn' : late,
    finding: `the oldest is due for ${lateS} s, ${parked} messages are parked, ${paused} endpoints are paused`,
    remedy:
      parked > 0
        ? 'ops parked list'
        : late === 'ok'
          ? null
          : 'ops delivery list --status PENDING; delivery why ID',
  }
}

function checkRounds(rounds: Facts['rounds']): Finding {
  if (rounds === null) return silent('rounds', 'rounds')
  return ok('rounds', `${rounds.unfinished} unfinished`)
}

function checkKeys(keys: Facts['keys'], now: Date): Finding {
  if (keys === null) return silent('signing keys', 'auth')
  const current = keys.find(({ status }) => status === 'CURRENT')
  if (current === undefined) {
    const remedy = 'ops keys rotate'
    return { check: 'signing keys', level: 'bad', finding: 'no key signs tokens', remedy }
  }
  const days = Math.floor((now.getTime() - Date.parse(current.created_at)) / dayMs)
  return {
    check: 'signing keys',
    level: days > keyDaysMax ? 'warn' : 'ok',
    finding: `the current one is ${days} days old`,
    remedy: days > keyDaysMax ? 'ops keys rotate; nobody notices' : null,
  }
}
