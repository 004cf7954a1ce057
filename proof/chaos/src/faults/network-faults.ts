import type { FaultProxy, LinkFault } from '../network/fault-proxy.ts'
import type { ServiceLink, ServiceLinks } from '../network/service-links.ts'
import { type ElectionProxy, meetings } from '../network/start-election-proxy.ts'
import { type Disturber, disturbRepeatedly, rest } from './disturber.ts'

const restMs = { least: 1000, most: 4500 }
/**
 * Durations of the faults. Those of a cut reach beyond a publish's patience, the driver's search for a
 * primary, and a stake's.
 */
const lastsMs = { hold: [300, 9000], delay: [1500, 5000], lost: [300, 2500], away: [300, 7000] } as const
const delayMs = { least: 20, most: 300 }
const commandsMax = 8
/** When an insert arrives that its sender has given up: soon, or after others have taken its work over. */
const lateMs = { least: 50, most: 20_000 }
/** So many links may be hurt at once: beyond, nothing but failed readiness would be seen. */
const hurtMax = 2

/** Cuts, slows and falsifies what passes between services and engines until the run ends. */
export async function disturbNetwork({
  links,
  ...given
}: Disturber & { links: ServiceLinks }): Promise<void> {
  const { random, counts, stopping, note } = given
  const hurt = new Set<FaultProxy>()
  const underWay: Promise<void>[] = []

  const last = async (proxy: FaultProxy, [least, most]: readonly [number, number], what: string) => {
    hurt.add(proxy)
    const ms = random.between(least, most)
    note(`${what} for ${ms} ms`)
    await rest(ms, stopping)
    proxy.calm()
    hurt.delete(proxy)
  }
  const put = (proxy: FaultProxy, fault: LinkFault, lasts: readonly [number, number], where: string) => {
    const what = fault.kind === 'hold' ? `hold towards ${fault.towards}` : fault.kind
    counts.add(`link ${what}`)
    proxy.put(fault)
    underWay.push(last(proxy, lasts, `${where}: ${what}`))
  }
  const elect = (proxy: ElectionProxy, where: string) => {
    const how = random.pick(meetings)
    counts.add(`election ${how}`)
    proxy.meet(how, random.between(1, commandsMax), random.between(lateMs.least, lateMs.most))
    proxy.setPrimary(random.chance(0.4))
    underWay.push(last(proxy, lastsMs.away, `${where}: election, commands ${how}`))
  }
  const hurtOne = (link: ServiceLink) => {
    const { nats, database } = link
    const isDatabase = database !== null && random.chance(0.6)
    const proxy = isDatabase ? database : nats
    if (hurt.has(proxy) || hurt.size >= hurtMax) return
    const where = `${link.service} (probe ${link.probePort}) to ${isDatabase ? 'the database' : 'NATS'}`
    const kind = random.next()
    if (isDatabase && kind < 0.4) elect(database, where)
    else if (kind < 0.7) {
      const towards = random.pick(['server', 'client', 'both'] as const)
      put(proxy, { kind: 'hold', towards }, lastsMs.hold, where)
    } else if (kind < 0.8) {
      const ms = random.between(delayMs.least, delayMs.most)
      put(proxy, { kind: 'delay', ms }, lastsMs.delay, where)
    } else if (kind < 0.92) put(proxy, { kind: 'lose-replies' }, lastsMs.lost, where)
    else {
      counts.add('link cut')
      note(`${where}: cut`)
      proxy.cut()
    }
  }

  await disturbRepeatedly(given, restMs, () => hurtOne(random.pick(links.all())))
  await Promise.all(underWay)
}
