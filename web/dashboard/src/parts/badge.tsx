const tones: Readonly<Record<string, string>> = {
  ACTIVE: 'good',
  DELIVERED: 'good',
  SUCCESS: 'good',
  ON: 'good',
  AVAILABLE: 'good',
  SETTLED: 'good',
  DONE: 'good',
  VERIFIED: 'good',
  PLAYED: 'good',
  PASSED: 'good',
  CERTIFIED: 'good',
  PENDING: 'waiting',
  RETRYING: 'waiting',
  RUNNING: 'waiting',
  OPEN: 'waiting',
  SETTLING: 'waiting',
  HELD: 'waiting',
  IN_REVIEW: 'waiting',
  APPROVED: 'waiting',
  PAUSED: 'waiting',
  INVITED: 'waiting',
  UNKNOWN: 'waiting',
  SKIPPED: 'waiting',
  FAILED: 'problem',
  'DOES NOT VERIFY': 'problem',
  REFUSED: 'problem',
  'NOT CERTIFIED': 'problem',
  MISSING: 'problem',
  MISMATCH: 'problem',
  REVOKED: 'problem',
  OFF: 'waiting',
  DOWN: 'problem',
  IN_FORCE: 'problem',
}

type BadgeProps = {
  readonly status: string
  /** It is a code that people look up, and stands as it is. */
  readonly exact?: boolean
}

/** A status in its colour; the words alone say it all. */
export function Badge({ status, exact = false }: BadgeProps) {
  return (
    <span className="badge" data-tone={tones[status] ?? 'plain'}>
      {exact ? status : status.replaceAll('_', ' ')}
    </span>
  )
}
