import { Resolver } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { BoundedMap } from '@pitboss/runtime/bounded-map'

/**
 * The addresses of a name, all of them, IPv4 first. `account` is whose name it is: its lookups under way are
 * bounded, so that slow name servers of one hold up nobody else's.
 * @throws Error with the code `ENOTFOUND` when there is no such name, `EAI_AGAIN` when nobody answered in
 * time
 */
export type ResolveName = (host: string, account: string) => Promise<readonly LookupAddress[]>

const perAccountMax = 8
const waitingPerAccountMax = 256
const keptMax = 10_000
const keptMaxS = 5
const failureKeptS = 1
const hostsKeptMs = 5000
/** Bound of one lookup, over all of its queries and servers, and of the wait for its place before it. */
const lookupTimeoutMs = 2000
const queryTimeoutMs = 700
const queryTries = 2

type Answer = { readonly addresses: readonly LookupAddress[]; readonly keptS: number }
type Known = { readonly answer: Promise<Answer>; untilMs: number }
type Line = { atWork: number; readonly waiting: (() => void)[] }

/**
 * Resolves names with queries of its own (c-ares) and the hosts file: `getaddrinfo` would hold two of libuv's
 * four threads for as long as a name server is silent, and everybody's calls with them. Answers are kept for
 * as long as they say, at most 5 s, failures for 1 s. A lookup is shared by the account's other calls.
 * @param servers name servers as `address:port`; those of the machine unless given
 */
export function createResolveName({
  servers,
  hostsFile = '/etc/hosts',
  now = () => performance.now(),
}: {
  servers?: readonly string[]
  hostsFile?: string
  now?: () => number
} = {}): ResolveName {
  const known = new BoundedMap<string, Known>(keptMax)
  const lines = new Map<string, Line>()
  let hosts = { readAtMs: Number.NEGATIVE_INFINITY, names: Promise.resolve(new Map<string, string[]>()) }

  function fromHosts(name: string): Promise<string[]> {
    if (now() - hosts.readAtMs > hostsKeptMs) hosts = { readAtMs: now(), names: readHosts(hostsFile) }
    return hosts.names.then((names) => names.get(name) ?? [])
  }

  /** Waits for a place of the account. @throws Error `EAI_AGAIN` when none comes in time or too many wait */
  async function takePlace(account: string, name: string): Promise<Line> {
    const line = lines.get(account) ?? { atWork: 0, waiting: [] }
    lines.set(account, line)
    if (line.atWork < perAccountMax) {
      line.atWork += 1
      return line
    }
    if (line.waiting.length >= waitingPerAccountMax) throw failure('EAI_AGAIN', name)
    const { promise, resolve, reject } = Promise.withResolvers<Line>()
    const take = () => {
      clearTimeout(timer)
      resolve(line)
    }
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(take), 1)
      reject(failure('EAI_AGAIN', name))
    }, lookupTimeoutMs)
    // Who leaves hands his place on.
    line.waiting.push(take)
    return promise
  }

  function leavePlace(account: string, line: Line): void {
    const next = line.waiting.shift()
    if (next !== undefined) return next()
    line.atWork -= 1
    if (line.atWork === 0) lines.delete(account)
  }

  async function look(name: string, account: string): Promise<Answer> {
    const listed = await fromHosts(name)
    if (listed.length > 0) return { addresses: toAddresses(listed), keptS: 0 }
    if (name === 'localhost' || name.endsWith('.localhost')) {
      return { addresses: toAddresses(['127.0.0.1', '::1']), keptS: keptMaxS }
    }
    const line = await takePlace(account, name)
    try {
      return await ask(name, servers)
    } finally {
      leavePlace(account, line)
    }
  }

  return async (host, account) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    if (isIP(name) !== 0) return toAddresses([name])
    const key = `${account} ${name}`
    let entry = known.get(key)
    if (entry === undefined || entry.untilMs < now()) {
      const answer = look(name, account)
      const made: Known = { answer, untilMs: Number.POSITIVE_INFINITY }
      answer.then(
        ({ keptS }) => (made.untilMs = now() + keptS * 1000),
        () => (made.untilMs = now() + failureKeptS * 1000),
      )
      known.set(key, made)
      entry = made
    }
    return (await entry.answer).addresses
  }
}

/** Resolves with the name servers of this machine. */
export const resolveName: ResolveName = createResolveName()

/** Both families at once; one may fail when the other has an answer. */
async function ask(name: string, servers: readonly string[] | undefined): Promise<Answer> {
  // One for each lookup, since `cancel` ends everything that a resolver has under way.
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
  if (servers !== undefined) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), lookupTimeoutMs)
  try {
    const answers = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    const records = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (records.length === 0) {
      const isUnknown = answers.some(({ status }) => status === 'fulfilled') || answers.every(saysUnknown)
      throw failure(isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN', name)
    }
    return {
      addresses: toAddresses(records.map(({ address }) => address)),
      keptS: Math.min(keptMaxS, ...records.map(({ ttl }) => ttl)),
    }
  } finally {
    clearTimeout(timer)
  }
}

function saysUnknown(answer: PromiseSettledResult<unknown>): boolean {
  return answer.status === 'rejected' && ['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(answer.reason?.code)
}

function failure(code: 'ENOTFOUND' | 'EAI_AGAIN', name: string): Error {
  return Object.assign(new Error(`${code} ${name}`), { code })
}

function toAddresses(texts: readonly string[]): LookupAddress[] {
  return texts.map((address) => ({ address, family: isIP(address) })).toSorted((a, b) => a.family - b.family)
}

/** Addresses by name; a machine without the file has none. */
async function readHosts(path: string): Promise<Map<string, string[]>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = (line.split('#')[0] ?? '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const alias of aliases.map((one) => one.toLowerCase())) {
      names.set(alias, [...(names.get(alias) ?? []), address])
    }
  }
  return names
}
