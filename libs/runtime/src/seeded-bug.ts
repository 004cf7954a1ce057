import { badConfigExitCode } from './load-config.ts'

/** Mistakes that the product can be told to make, so that the chaos run can show that it would notice them. */
export const seededBugs = {
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

export type SeededBug = keyof typeof seededBugs

/** Read at the first question, once per process; undefined until then. */
let armed: SeededBug | null | undefined

/**
 * Whether this process is to make the named mistake. Armed by `PITBOSS_SEEDED_BUG=name` alone, one at a time, and said on stderr;
 * never true otherwise. A name that does not exist, and any name in production, end the process with exit code 78.
 */
export function seededBug(name: SeededBug): boolean {
  if (armed === undefined) armed = readSeededBug(process.env)
  return armed === name
}

function readSeededBug({ PITBOSS_SEEDED_BUG: text = '', NODE_ENV }: NodeJS.ProcessEnv): SeededBug | null {
  if (text === '') return null
  if (NODE_ENV === 'production') refuse('is refused when NODE_ENV=production')
  if (!isSeededBug(text)) refuse('is not the name of a seeded bug')
  process.stderr.write(`PITBOSS_SEEDED_BUG is set: this process errs on purpose (${seededBugs[text]}).\n`)
  return text
}

export function isSeededBug(text: string): text is SeededBug {
  return Object.hasOwn(seededBugs, text)
}

function refuse(problem: string): never {
  process.stderr.write(`Bad configuration.\nPITBOSS_SEEDED_BUG: ${problem}\n`)
  process.exit(badConfigExitCode)
}
