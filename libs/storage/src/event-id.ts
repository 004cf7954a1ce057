import { createHash } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { idCharacters } from '@pitboss/contracts/id-characters'

const timeCharacters = 10
const hashCharacters = 16
const ownId = /^[a-z]{2,8}_([0-9a-hjkmnp-tv-z]{26})$/

type Fact = { readonly type: string; readonly about: string; readonly of?: string }

/**
 * The only id that the event of a fact can have: the ten characters of time of its round or session, and 80
 * bits of a hash over account, environment, type and what it is about. Whoever tells the fact again, from
 * whatever record, tells it under the same id. Source:
 * docs/decisions/2026-11-23-the-id-of-an-event-follows-from-its-fact.md.
 * @param about id of the round or of the session, or the `transaction_id` of the movement
 * @param of id of the round or of the session
 */
export function eventIdOf(scope: Scope, fact: Fact): string {
  return factIdOf('evt', scope, fact)
}

/** The only id that the record of a fact can have, by the same rule. @param prefix of the record's kind */
export function factIdOf(
  prefix: string,
  { operatorId, environment }: Scope,
  { type, about, of = about }: Fact,
): string {
  const hash = createHash('sha256').update(`${operatorId}/${environment}/${type}/${about}`).digest()
  const time = (ownId.exec(of)?.[1] ?? '').slice(0, timeCharacters).padStart(timeCharacters, '0')
  return `${prefix}_${time}${idCharacters(hash, hashCharacters)}`
}
