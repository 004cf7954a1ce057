/**
 * Tells a person who waits what is going on; on stderr, so that it never mixes with output that a program
 * reads.
 */
export type Progress = {
  step(text: string): void
  /** `bytesTotal` null: the size is not known yet. */
  bytes(text: string, bytesDone: number, bytesTotal: number | null): void
  /** Ends a line that is still being rewritten. */
  done(): void
}

const plainLineEveryMs = 2_000
const redrawEveryMs = 100

/** Rewrites one line on a terminal; prints a line every two seconds elsewhere. */
export function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  const terminal = out.isTTY === true
  let startedAt = 0
  let shownAt = 0
  let current = ''
  const clear = terminal ? '\r\x1b[2K' : ''
  const done = () => {
    if (terminal && current !== '') out.write('\n')
    current = ''
  }
  return {
    step: (text) => {
      done()
      out.write(`engines: ${text}\n`)
    },
    bytes: (text, bytesDone, bytesTotal) => {
      const now = performance.now()
      if (current !== text) {
        done()
        current = text
        startedAt = now
        shownAt = 0
      }
      if (now - shownAt < (terminal ? redrawEveryMs : plainLineEveryMs) && shownAt !== 0) return
      shownAt = now
      const line = `engines: ${text} ${describeBytes(bytesDone, bytesTotal, now - startedAt)}`
      out.write(terminal ? clear + line : `${line}\n`)
    },
    done,
  }
}

/** Progress of callers that show none. */
export const noProgress: Progress = { step: () => {}, bytes: () => {}, done: () => {} }

/** `12.3 of 38.1 MB, 3 s left`; the time is estimated from the mean speed so far. */
export function describeBytes(bytesDone: number, bytesTotal: number | null, elapsedMs: number): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
  if (bytesTotal === null) return `${megabytes(bytesDone)} MB`
  const amount = `${megabytes(bytesDone)} of ${megabytes(bytesTotal)} MB`
  if (bytesDone === 0 || elapsedMs < 500) return amount
  const leftS = Math.ceil((elapsedMs * (bytesTotal - bytesDone)) / bytesDone / 1000)
  return `${amount}, ${leftS} s left`
}
