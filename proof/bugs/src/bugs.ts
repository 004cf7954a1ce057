import { badConfigExitCode } from '@pitboss/runtime/load-config'

/**
 * Mistakes that can be put around the product's own parts, so that chaos and simulation can show that they
 * would notice them. The product knows none of them.
 */
export const bugs = {
  'rounds.pending-stake-counts': 'a stake whose outcome is unknown counts as taken, and the round pays',
  'rounds.payout-one-more': 'a win is credited with one minor unit more than the round shows',
  'rounds.nonce-skipped': 'every other nonce is left out',
  'rounds.redrawn-after-restart': 'a round that is finished later than at once is drawn anew',
  'rounds.other-body-accepted': 'a known transaction_id with another body is answered by the first record',
  'rounds.event-dropped': 'a round that ends does not always say so',
  'storage.fence-lost': 'a write does not look whether somebody else was first',
  'storage.outbox-emptied-first': 'events leave the outbox before the stream has them',
  'wallet-bridge.new-id-per-retry': 'a retry has a transactionId of its own',
  'wallet-bridge.retry-other-body': 'a retry is not byte-identical',
  'wallet-bridge.refusal-always-final': 'a refusal after a try of unknown outcome is final',
  'wallet-bridge.silence-is-refusal': 'no answer counts as a refusal',
  'wallet-bridge.rollback-of-win': 'a win that took more than one try is rolled back',
  'wallet-bridge.credit-given-up': 'a credit is given up after its second try',
  'wallet-bridge.void-pays-twice': 'a stake that is rolled back is credited, too',
  'wallet-bridge.two-resolvers': 'a resolver does not wait for the call of another to end',
  'wallet-bridge.event-before-outcome': 'an event tells of a stake before the wallet has answered',
  'wallet-bridge.event-dropped': 'a movement that ends does not always say so',
  'wallet-bridge.event-twice': 'a movement tells the same fact twice, under two ids',
  'wallet-bridge.live-wallet-used': 'a test credit is paid by the live wallet',
  'webhooks.acknowledged-unsent': 'a delivery counts as delivered without being sent',
  'webhooks.body-changed': 'a repeated delivery has another body than the first',
  'webhooks.event-left-out': 'an event is acknowledged without being recorded',
} as const

export type Bug = keyof typeof bugs

/** Whether this process, or this simulated run, errs in the named way. */
export type HasBug = (name: Bug) => boolean

/**
 * Reads `PITBOSS_BUG`: the one bug of this process, said on stderr. A name that does not exist ends the
 * process with exit code 78.
 */
export function bugOfProcess({ PITBOSS_BUG: text = '' }: NodeJS.ProcessEnv = process.env): HasBug {
  if (text === '') return () => false
  if (!isBug(text)) {
    process.stderr.write('Bad configuration.\nPITBOSS_BUG: is not the name of a bug\n')
    process.exit(badConfigExitCode)
  }
  process.stderr.write(`PITBOSS_BUG is set: this process errs on purpose (${bugs[text]}).\n`)
  return (name) => name === text
}

export function isBug(text: string): text is Bug {
  return Object.hasOwn(bugs, text)
}
