import { createHash } from 'node:crypto'
import { z } from 'zod'
import { auditEntrySchema, auditHead } from './audit.ts'
import { canonicalJson } from './json.ts'

/**
 * The chain of an account's audit log: each entry as auth took it, with the hash of the one before it.
 * Source: docs/contract.md, section 3, "Audit record".
 */

/** The services whose changes are in the log. */
export const auditSource = z.enum(['auth', 'rounds', 'wallet-bridge', 'webhooks'])
export type AuditSource = z.infer<typeof auditSource>

/** What bears out the author: the token of the request, an approval that auth knows, or nothing. */
export const auditProof = z.enum(['token', 'approval', 'none'])
export type AuditProof = z.infer<typeof auditProof>

/** An entry in its chain. `prev` of the first one is empty. */
export const auditLinkSchema = z.strictObject({
  seq: z.int().min(1),
  prev: z.string().max(64),
  hash: z.string().length(64),
  taken_at: z.string(),
  source: auditSource,
  proof: auditProof,
  entry: auditEntrySchema.omit({ token: true }),
})
export type AuditLink = z.infer<typeof auditLinkSchema>

/** The last link of an account's chain at an hour, signed by auth. `operator_id` is null for the platform. */
export const auditHeadSchema = auditHead.extend({ operator_id: z.string().nullable() })
export type AuditHead = z.infer<typeof auditHeadSchema>

/** The `typ` header of a signed head. */
export const auditHeadType = 'pitboss-audit+jws'

/** The hash of a link, in hex: SHA-256 of its other fields as JSON with sorted keys. */
export function hashOfLink({ seq, prev, taken_at, source, proof, entry }: Omit<AuditLink, 'hash'>): string {
  const text = canonicalJson({ seq, prev, taken_at, source, proof, entry })
  return createHash('sha256').update(text).digest('hex')
}

export type ChainFault = { readonly seq: number; readonly what: string }

/**
 * Entries that were changed, are missing or were put in. @param head what auth signed last; null before that
 * @param keptFrom links that were taken before it may be gone, since the log keeps 400 days
 */
export function chainFaults(
  links: readonly AuditLink[],
  { head, keptFrom }: { head: AuditHead | null; keptFrom: Date },
): ChainFault[] {
  const faults: ChainFault[] = []
  let before: AuditLink | null = null
  for (const link of links) {
    const { seq, prev, hash } = link
    const mayLack = new Date(link.taken_at) <= keptFrom
    const expected = before === null ? 1 : before.seq + 1
    if (seq > expected && !mayLack) faults.push({ seq: expected, what: `entries are missing before ${seq}` })
    if (seq < expected) faults.push({ seq, what: 'was put in' })
    if (hashOfLink(link) !== hash) faults.push({ seq, what: 'was changed' })
    else if (seq === expected && prev !== (before?.hash ?? ''))
      faults.push({ seq, what: 'does not follow the entry before it' })
    before = link
  }
  if (head !== null) faults.push(...headFaults(links, head, keptFrom))
  return faults
}

function headFaults(links: readonly AuditLink[], head: AuditHead, keptFrom: Date): ChainFault[] {
  const signed = links.find(({ seq }) => seq === head.seq)
  if (signed === undefined)
    return new Date(head.at) <= keptFrom ? [] : [{ seq: head.seq, what: `is missing: signed at ${head.at}` }]
  return signed.hash === head.hash
    ? []
    : [{ seq: head.seq, what: `is another than was signed at ${head.at}` }]
}
