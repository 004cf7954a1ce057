const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const characters = 26
/** A reference is made within this much of its movement's creation time. */
const slackMs = 60_000

/**
 * A bound on `txn_` references (which begin with the milliseconds of their making) for movements created about `at`: a little lower than
 * any of them, or a little higher with `above`. Exact windows also compare the creation time.
 */
export function referenceBefore(at: Date, above = false): string {
  const ms = Math.max(0, at.getTime() + (above ? slackMs : -slackMs))
  let rest = BigInt(Math.floor(ms)) << 80n
  let text = ''
  for (let position = 0; position < characters; position++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return `txn_${text}`
}
