import type { Scope } from '@pitboss/contracts/caller'
import type { TailKind } from '@pitboss/contracts/objects/tail'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Bus } from './connect-bus.ts'
import { createTokenVerifier } from './verify-token.ts'
import type { Jwks } from './key-set.ts'

/**
 * Notes of what just happened to an account that somebody follows: core NATS, at most once, stored nowhere.
 * Gateways say whose accounts are followed, with a token of each; services tell of those alone.
 */

/** Gateways tell here every two seconds which accounts are followed. */
export const tailWatchSubject = 'gateway.tail.watch'
export const watchEveryMs = 2000
/** An account of which no gateway has spoken for so long is followed no more. */
const watchedForMs = 7000
const accountsMax = 10_000
const verifiedMax = 4096
const keysMaxAgeMs = 60_000

/** The roots of subjects on which services tell; each may publish under its own. */
export const tailRoots = ['webhooks', 'wallet', 'gateway'] as const
export type TailRoot = (typeof tailRoots)[number]

/** The subject of the notes of a service about an account; `>` hears all of them. */
export const tailSubject = (root: TailRoot, operatorId: string, rest = '>') =>
  `${root}.tail.v1.${operatorId}.${rest}`

const watchSchema = z.object({ tokens: z.array(z.string()).max(200) })

/** The message that names followed accounts by a token of each. */
export function encodeWatch(tokens: readonly string[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ tokens }))
}

export type TailNotes = {
  /**
   * Tells of a record, if the account is followed. Never waits, never throws: a note is worth less than the
   * work that it tells of. @param render makes the record as its list shows it
   */
  tell(scope: Scope, kind: TailKind, render: () => unknown): void
  stop(): void
}

/** Notes of one service. A watch with a token that is not good is passed over. */
export function createTailNotes({
  bus,
  root,
  loadKeys,
  logger,
  nowMs = Date.now,
}: {
  bus: Pick<Bus, 'publish' | 'subscribe'>
  root: TailRoot
  loadKeys: () => Promise<Jwks>
  logger: Pick<Logger, 'warn'>
  nowMs?: () => number
}): TailNotes {
  const verifier = createTokenVerifier({ loadKeys, logger, nowMs, verifiedMax, keysMaxAgeMs })
  const watchedUntilMs = new Map<string, number>()
  const encoder = new TextEncoder()

  async function watch(token: string): Promise<void> {
    try {
      const { aud, op } = await verifier.verify(token)
      if (aud !== 'dashboard') return
      if (watchedUntilMs.size >= accountsMax) forget()
      if (watchedUntilMs.size < accountsMax) watchedUntilMs.set(op, nowMs() + watchedForMs)
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err
      if (err.code !== 'TOKEN_EXPIRED') logger.warn({ err }, 'tail.not-watched')
    }
  }

  function forget(): void {
    for (const [operatorId, untilMs] of watchedUntilMs)
      if (untilMs <= nowMs()) watchedUntilMs.delete(operatorId)
  }

  const heard = bus.subscribe(tailWatchSubject, ({ data }) => {
    const { tokens } = watchSchema.parse(JSON.parse(new TextDecoder().decode(data)))
    for (const token of tokens) watch(token).catch((err: unknown) => logger.warn({ err }, 'tail.not-watched'))
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
