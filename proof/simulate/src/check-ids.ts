import type { Answers } from '@pitboss/chaos/answers'
import { codeOf } from '@pitboss/chaos/send'
import { BrokenInvariant } from './check-steps.ts'

/**
 * An id is in conflict with an equal id alone, under which something else was asked for: however long ids
 * are, and whatever the case of their letters.
 * @throws BrokenInvariant
 */
export function checkIds(answers: Answers): void {
  const bodies = new Map<string, Set<string>>()
  const all = answers.all().filter(({ what, id }) => id !== null && (what === 'stake' || what === 'movement'))
  for (const { id, asked } of all) {
    const own = bodies.get(id ?? '') ?? new Set()
    bodies.set(id ?? '', own.add(JSON.stringify(asked)))
  }
  for (const { at, what, id, answer } of all) {
    const isAlone = bodies.get(id ?? '')?.size === 1
    if (codeOf(answer) === 'TRANSACTION_CONFLICT' && isAlone)
      throw new BrokenInvariant('an id is in conflict with another body alone', `${at} ${what} ${id}`)
  }
}
