/** A case that failed; the message names expectation and result. */
export class CaseFailure extends Error {}

/** A case that cannot be run with the options given. */
export class CaseSkipped extends Error {}

/** One thing that a certified party must do. Cases of a suite run one after another, in order. */
export type CertificationCase<Context> = {
  /** Stable name for reports and tests, kebab-case. */
  readonly id: string
  readonly group: string
  /** A sentence that is true when the case passes. */
  readonly title: string
  /** The usual fault when it fails. */
  readonly hint: string
  run(context: Context): Promise<void>
}

/** @throws CaseFailure unless the condition holds */
export function expect(condition: boolean, message: string): void {
  if (!condition) throw new CaseFailure(message)
}
