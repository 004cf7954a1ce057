/** The groups of cases, and what it costs when one of a group fails. */
const groups = {
  balance: 'Players see their balance from this answer, and a wrong one is shown as it is.',
  debit: 'A stake that is taken wrongly costs the player or you money in every round.',
  credit: 'A win that is paid wrongly is a complaint, and it is paid in every round.',
  idempotency: 'A call whose answer was lost is sent again: without this, money moves twice.',
  races: 'Calls arrive at the same time in production: without this, balances drift under load only.',
  rollback: 'A stake of unknown outcome is taken back: without this, the player loses it or keeps it twice.',
  signature: 'Whoever can reach the wallet could move money in our name.',
  shape: 'What is misread is booked wrongly, and a 5xx has us try again what can never succeed.',
  players: 'A player who may not play would play, or one who has won would not be paid.',
  accepts: 'What is not accepted is sent again, and after a day of failures the endpoint pauses.',
  refuses: 'Whoever knows the address could tell you of rounds that never were.',
  delivery:
    'Deliveries come at least once, in any order and many at a time: without this, events are lost or doubled.',
} as const
export type CaseGroup = keyof typeof groups
export const caseGroups = Object.keys(groups) as CaseGroup[]

/** A case that failed; the message names expectation and result. */
export class CaseFailure extends Error {
  /** What to do, where it is known better than the case's hint. */
  readonly remedy: string | null

  constructor(message: string, remedy: string | null = null) {
    super(message)
    this.remedy = remedy
  }
}

/** A case that cannot be run with the options given. */
export class CaseSkipped extends Error {}

/** One thing that a certified party must do. Cases of a suite run one after another, in order. */
export type CertificationCase<Context> = {
  /** Stable name for reports and tests, kebab-case. */
  readonly id: string
  readonly group: CaseGroup
  /** A sentence that is true when the case passes. */
  readonly title: string
  /** The usual fault when it fails. */
  readonly hint: string
  /** Why a job ends when it fails: no case after it could pass. */
  readonly endsAll?: string
  /** Gives what is noted of a pass, if anything. */
  run(context: Context): Promise<string | void>
}

/** Makes a case of a group. */
export function defineCase<Context>(
  group: CaseGroup,
  id: string,
  rest: Pick<CertificationCase<Context>, 'title' | 'hint' | 'endsAll' | 'run'>,
): CertificationCase<Context> {
  return { group, id, ...rest }
}

/** @throws CaseFailure unless the condition holds */
export function expect(condition: boolean, message: string, remedy: string | null = null): void {
  if (!condition) throw new CaseFailure(message, remedy)
}

const CASE_DEADLINE_MS = 60_000

export type CaseResult = {
  id: string
  group: CaseGroup
  title: string
  outcome: 'passed' | 'failed' | 'skipped'
  duration_ms: number
  /** What went wrong, why it was skipped, or what is noted of a pass. */
  message: string | null
  /** What it costs that it failed; null unless it did. */
  why: string | null
  hint: string | null
}

/** Certified is who fails no case and passes one; what was skipped counts for nothing. */
export function isCertified({ passed, failed }: { passed: number; failed: number }): boolean {
  return failed === 0 && passed > 0
}

/** The counts of results, and whether they certify. */
export function verdictOf(results: ReadonlyArray<Pick<CaseResult, 'outcome'>>) {
  const count = (outcome: CaseResult['outcome']): number =>
    results.filter((one) => one.outcome === outcome).length
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')]
  return { certified: isCertified({ passed, failed }), passed, failed, skipped }
}

/** Runs one case, for at most a minute. Never throws. */
export async function runCase<Context>(
  one: CertificationCase<Context>,
  context: Context,
): Promise<CaseResult> {
  const startedAt = performance.now()
  const { id, group, title } = one
  const ended = (
    outcome: CaseResult['outcome'],
    message: string | null,
    remedy: string | null = null,
  ): CaseResult => {
    const duration_ms = Math.round(performance.now() - startedAt)
    const [why, hint] = outcome === 'failed' ? [groups[group], remedy ?? one.hint] : [null, null]
    return { id, group, title, outcome, duration_ms, message, why, hint }
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new CaseFailure('the case did not end within 60 s')), CASE_DEADLINE_MS)
  })
  try {
    const note = await Promise.race([one.run(context), deadline])
    return ended('passed', note === undefined || note === '' ? null : note)
  } catch (error) {
    if (error instanceof CaseSkipped) return ended('skipped', error.message)
    if (error instanceof CaseFailure) return ended('failed', error.message, error.remedy)
    return ended('failed', error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error')
  } finally {
    clearTimeout(timer)
  }
}
