import { definedCalls } from '@pitboss/contracts/defined-calls'
import t from 'tap'
import { natsPermissions, natsUsers } from '../src/nats/permissions.ts'

/** Whether a subject is one of a pattern of NATS. */
function matches(pattern: string, subject: string): boolean {
  const [asked, tokens] = [pattern.split('.'), subject.split('.')]
  return (
    asked.every(
      (one, at) => one === '>' || (tokens[at] !== undefined && (one === '*' || one === tokens[at])),
    ) && (asked.at(-1) === '>' ? tokens.length >= asked.length : tokens.length === asked.length)
  )
}

t.test('no user may publish a call that does not name him, and each may publish those that do', async (t) => {
  t.ok(definedCalls.length > 150, `${definedCalls.length} calls`)
  for (const user of natsUsers) {
    const allowed = definedCalls.filter(({ subject }) =>
      natsPermissions[user].publish.allow.some((pattern) => matches(pattern, subject)),
    )
    const named = definedCalls.filter(({ callers }) => callers.includes(user))
    const subjects = (calls: typeof definedCalls) =>
      [...new Set(calls.map(({ subject }) => subject))].toSorted()
    t.strictSame(subjects(allowed), subjects(named), user)
  }
})
