import type { Scope } from '@pitboss/contracts/caller'
import type { TailKind } from '@pitboss/contracts/objects/tail'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Bus } from './connect-bus.ts'
import { decodeJson, encodeJson } from './wire.ts'

/**
 * Notes of what just happened to an account that somebody follows: core NATS, at most once, stored nowhere.
 * Gateways say which accounts are followed; services tell of those alone.
 */

/** Gateways tell here every two seconds which accounts are followed. */
export const tailWatchSubject = 'gateway.tail.accounts'
export const watchEveryMs = 2000
/** An account of which no gateway has spoken for so long is followed no more. */
const watchedForMs = 7000
const accountsMax = 10_000

/** The roots of subjects on which services tell; each may publish under its own. */
export const tailRoots = ['webhooks', 'wallet', 'gateway'] as const
export type TailRoot = (typeof tailRoots)[number]

/** The subject of the notes of a service about an account; `>` hears all of them. */
export const tailSubject = (root: TailRoot, operatorId: string, rest = '>') =>
  `${root}.tail.v1.${operatorId}.${rest}`

const watchSchema = z.object({ accounts: z.array(z.uuid()).max(200) })

/** The message that names followed accounts. */
export function encodeWatch(accounts: readonly string[]): Uint8Array {
  return encodeJson({ accounts })
}

export type TailNotes = {
  /**
   * Tells of a record, if the account is followed. Never waits, never throws: a note is worth less than the
   * work that it tells of. @param render makes the record as its list shows it
   */
  tell(scope: Scope, kind: TailKind, render: () => unknown): void
  stop(): void
}

/** Notes of one service. A watch that cannot be read is passed over. */
export function createTailNotes({
  bus,
  root,
  logger,
  nowMs = Date.now,
}: {
  bus: Pick<Bus, 'publish' | 'subscribe'>
  root: TailRoot
  logger: Pick<Logger, 'warn'>
  nowMs?: () => number
}): TailNotes {
  const watchedUntilMs = new Map<string, number>()
  const encoder = new TextEncoder()

  function watch(operatorId: string): void {
    if (watchedUntilMs.size >= accountsMax) forget()
    if (watchedUntilMs.size < accountsMax) watchedUntilMs.set(operatorId, nowMs() + watchedForMs)
  }

  function forget(): void {
    for (const [operatorId, untilMs] of watchedUntilMs)
      if (untilMs <= nowMs()) watchedUntilMs.delete(operatorId)
  }

  const heard = bus.subscribe(tailWatchSubject, ({ data }) => {
    for (const operatorId of readWatch(data)) watch(operatorId)
  })

  return {
    tell({ operatorId, environment }, kind, render) {
      const untilMs = watchedUntilMs.get(operatorId)
      if (untilMs === undefined) return
      if (untilMs <= nowMs()) {
        watchedUntilMs.delete(operatorId)
        return
      }
      try {
        const note = encoder.encode(JSON.stringify(render()))
        bus.publish(tailSubject(root, operatorId, `${environment}.${kind}`), note)
      } catch (err) {
        logger.warn({ err, operator_id: operatorId, kind }, 'tail.not-told')
      }
    },
    stop: () => heard.unsubscribe(),
  }
}

/** Nobody is followed by a message that cannot be read. */
function readWatch(data: Uint8Array): readonly string[] {
  try {
    return watchSchema.parse(decodeJson(data)).accounts
  } catch {
    return []
  }
}
