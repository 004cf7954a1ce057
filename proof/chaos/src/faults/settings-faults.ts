import { setTimeout as delay } from 'node:timers/promises'
import { runOps } from '@pitboss/testing/run-ops'
import type { Tenancy } from '../open-tenancies.ts'
import { codeOf, send } from '../send.ts'
import { type Disturber, disturbRepeatedly, rest } from './disturber.ts'
import type { ShareSecrets } from './share-secrets.ts'

const restMs = { least: 1200, most: 4000 }
const suspendedMs = { least: 500, most: 4000 }
const opsTries = 200
const opsRestMs = 300

/**
 * Changes what an operator can change while money is under way, until the run ends: the address of its
 * wallet (of the same ledger), its secret, the settlement of losses; and suspends accounts for a moment.
 */
export async function disturbSettings({
  tenancies,
  baseUrl,
  dataDir,
  secrets,
  ...given
}: Disturber & {
  tenancies: readonly Tenancy[]
  baseUrl: string
  dataDir: string
  secrets: ShareSecrets
}): Promise<void> {
  const { random, counts, stopping, note } = given
  const settings = new Map<Tenancy, { recorder: number; settle_losses: 'none' | 'zero_credit' }>()
  const routeOf = ({ environment }: Tenancy) => `${baseUrl}/v1/dashboard/wallets/${environment}`
  const done = (tenancy: Tenancy, what: string) => {
    counts.add(`settings ${what}`)
    note(`${tenancy.name}: ${what}`)
  }

  const changeWallet = async (tenancy: Tenancy, what: 'url' | 'settle_losses') => {
    const now = settings.get(tenancy) ?? { recorder: 0, settle_losses: 'none' as const }
    const next =
      what === 'url'
        ? { ...now, recorder: 1 - now.recorder }
        : {
            ...now,
            settle_losses: now.settle_losses === 'none' ? ('zero_credit' as const) : ('none' as const),
          }
    const { timeout_ms } = (await send('GET', routeOf(tenancy), { token: tenancy.personToken })).body
    const body = { url: tenancy.recorders[next.recorder]?.url, timeout_ms, settle_losses: next.settle_losses }
    if (timeout_ms === undefined) return
    const put = (more: object) =>
      send('PUT', routeOf(tenancy), { token: tenancy.personToken, body: { ...body, ...more } })
    const plain = await put({})
    const answer = codeOf(plain) === 'CONFLICT' ? await put({ same_ledger: true }) : plain
    if (answer.status !== 200) return
    settings.set(tenancy, next)
    done(tenancy, what === 'url' ? 'wallet moved' : `settle_losses ${next.settle_losses}`)
  }
  const rotateSecret = async (tenancy: Tenancy) => {
    await secrets.rotate(tenancy)
    done(tenancy, 'secret rotated')
  }
  const suspend = async (tenancy: Tenancy) => {
    const set = (value: 'yes' | 'no') =>
      runOps(
        dataDir,
        'operator',
        'set',
        tenancy.operatorId,
        '--suspended',
        value,
        '--yes',
        '--reason',
        'chaos',
      )
    const ms = random.between(suspendedMs.least, suspendedMs.most)
    // A command without an answer may have done it.
    if (await succeeds(set('yes'))) {
      done(tenancy, 'suspended')
      await rest(ms, stopping)
    }
    let reason: unknown = null
    const resume = () => set('no').catch((error: unknown) => Promise.reject((reason = error)))
    // While faults rain its only auth may stand aside as long as its clock is wrong.
    for (let left = opsTries; !(await succeeds(resume())); ) {
      if (stopping.aborted) left -= 1
      if (left === 0) throw new Error(`${tenancy.name} stays suspended`, { cause: reason })
      await delay(opsRestMs)
    }
  }

  /** Tenancies that are being changed: each is changed in one way at a time. */
  const changing = new Map<Tenancy, Promise<void>>()

  await disturbRepeatedly(given, restMs, () => {
    const tenancy = random.pick(tenancies)
    if (changing.has(tenancy)) return
    changing.set(
      tenancy,
      change(tenancy).finally(() => changing.delete(tenancy)),
    )
  })
  await Promise.all(changing.values())

  async function change(tenancy: Tenancy): Promise<void> {
    const kind = random.next()
    if (kind < 0.4) await changeWallet(tenancy, 'url')
    else if (kind < 0.65) await changeWallet(tenancy, 'settle_losses')
    else if (kind < 0.88) await rotateSecret(tenancy)
    else await suspend(tenancy)
  }
}

function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  )
}
