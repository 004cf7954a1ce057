import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedCalls } from '@pitboss/contracts/defined-calls'
import { waitFor } from './wait-for.ts'

type Suite = {
  test(name: string, body: (t: Checks) => Promise<void>): Promise<unknown>
}
type Checks = {
  ok(value: unknown, message: string): boolean
  equal(found: unknown, wanted: unknown, message: string): boolean
  notMatch(found: string, pattern: RegExp, message: string): boolean
  strictSame(found: unknown, wanted: unknown, message: string): boolean
}

/** A call that changes something, and the record that it leaves. */
export type AuditCase = {
  readonly act: string
  readonly actor: Pick<AuditEntry['actor'], 'kind' | 'id'>
  /** The account whose log has the record; null for what belongs to none. */
  readonly operatorId: string | null
  /** Makes the change. @returns what the record must not hold: secrets in clear, as the answer shows them */
  readonly run: () => Promise<readonly string[]>
}

/** The reason why a call that looks like a change leaves no record. */
export type Unaudited = { readonly why: string }

const secretField = /"(\w*(secret|hash|sealed|token|cipher|recovery)\w*|password|totp|key_hash)":/i

/**
 * Holds that each call of `service` by which somebody changes something has a case, and that the case leaves
 * exactly one record with its act, actor, address or none, request and object, the token of its author, and
 * without secrets. A new call without a case fails.
 * @param cases by subject
 * @param entries the audit log, the newest last
 */
export async function holdAudit(
  t: Suite,
  {
    service,
    cases,
    entries,
  }: {
    service: string
    cases: Readonly<Record<string, AuditCase | Unaudited>>
    entries: () => Promise<readonly AuditEntry[]>
  },
): Promise<void> {
  const subjects = auditedCalls.filter((call) => call.service === service).map(({ subject }) => subject)
  await t.test(`each change in ${service} has its case`, async (t) => {
    const covered = Object.keys(cases).filter((subject) => subjects.includes(subject))
    t.strictSame(covered.toSorted(), [...new Set(subjects)].toSorted(), 'the table is complete')
  })
  for (const [subject, one] of Object.entries(cases)) {
    if ('why' in one) continue
    await t.test(`${subject} leaves the record ${one.act}`, async (t) => {
      const known = new Set((await entries()).map(({ audit_id }) => audit_id))
      const secrets = await one.run()
      // An answer waits half a second for its record to move, at most.
      const recorded = async () => {
        const found = (await entries()).filter(({ audit_id }) => !known.has(audit_id))
        return found.some(({ act }) => act === one.act) ? found : null
      }
      const fresh = await waitFor(recorded, { what: one.act })
      const found = fresh.filter(({ act }) => act === one.act)
      t.equal(found.length, 1, `one record, of ${fresh.map(({ act }) => act).join(', ')}`)
      const [entry] = found
      if (entry === undefined) return
      const { kind, id } = entry.actor
      t.strictSame({ kind, id }, one.actor, 'its actor')
      t.equal(entry.operator_id, one.operatorId, 'its account')
      t.ok(entry.actor.name !== '' && entry.object.type !== '' && entry.object.id !== '', 'its names')
      t.ok(entry.request_id !== null, 'its request')
      t.equal(entry.client_address === null, kind === 'operations', 'its address')
      t.ok(entry.before !== null || entry.after !== null, 'what changed')
      const isBorneOut = service === 'auth' || kind === 'operations' || entry.approval !== undefined
      t.ok(isBorneOut || entry.token !== undefined, 'the token that bears out its author')
      for (const record of fresh) {
        const text = JSON.stringify([record.before, record.after])
        t.notMatch(text, secretField, 'no field of a secret')
        t.equal(
          secrets.some((secret) => text.includes(secret)),
          false,
          'no secret in clear',
        )
      }
    })
  }
}
