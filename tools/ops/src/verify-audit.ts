import { createPublicKey, verify } from 'node:crypto'
import type { Bus } from '@pitboss/bus/connect-bus'
import {
  type AuditHead,
  auditHeadSchema,
  auditHeadType,
  type AuditLink,
  type ChainFault,
  chainFaults,
} from '@pitboss/contracts/audit-chain'
import { opsReadAuditChain } from '@pitboss/contracts/calls/auth-ops'
import { z } from 'zod'

const pageMax = 50
/** The log keeps 400 days; the database deletes within some minutes of it. */
const keptMs = 399 * 24 * 60 * 60 * 1000
const headerSchema = z.looseObject({ kid: z.string(), typ: z.literal(auditHeadType) })

export type VerifiedAudit = {
  readonly entries: number
  readonly signed_until: number | null
  readonly signed_at: string | null
  readonly faults: readonly ChainFault[]
}

/**
 * Reads the whole chain of an account (null: of the platform) and recomputes it.
 * @throws ServiceError of the bus
 */
export async function verifyAudit(
  bus: Pick<Bus, 'call'>,
  operator: string | null,
  now: Date,
): Promise<VerifiedAudit> {
  const links: AuditLink[] = []
  for (;;) {
    const from_seq = (links.at(-1)?.seq ?? 0) + 1
    const page = await bus.call(opsReadAuditChain, { operator, from_seq, limit: pageMax })
    links.push(...page.links)
    if (page.links.length === pageMax) continue
    const head = page.head === null ? null : openHead(page.head, page.keys)
    const isForged = page.head !== null && head === null
    const faults: ChainFault[] = [
      ...chainFaults(links, { head, keptFrom: new Date(now.getTime() - keptMs) }),
      ...(isForged ? [{ seq: links.at(-1)?.seq ?? 0, what: 'the signature of the end is not of auth' }] : []),
      ...page.unlinked.map((id) => ({ seq: 0, what: `${id} stands outside of the chain` })),
    ]
    const signed = { signed_until: head?.seq ?? null, signed_at: head?.at ?? null }
    return { entries: links.length, ...signed, faults }
  }
}

/** The head in a signature by one of the keys; null for any other. */
function openHead(jws: string, keys: readonly Record<string, unknown>[]): AuditHead | null {
  const [head = '', payload = '', signature = ''] = jws.split('.')
  try {
    const { kid } = headerSchema.parse(JSON.parse(Buffer.from(head, 'base64url').toString()))
    const jwk = keys.find((key) => key.kid === kid)
    if (jwk === undefined) return null
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const isGood = verify(null, Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'))
    return isGood ? auditHeadSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())) : null
  } catch {
    return null
  }
}
