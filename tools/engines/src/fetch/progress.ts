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
/** A step that says nothing for so long is said to go on. */
const silenceMaxMs = 10_000
/** The speed is that of the last while: at the beginning nothing has come for long. */
const speedOverMs = 10_000

/** Rewrites one line on a terminal; prints a line every two seconds elsewhere. */
export function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  const terminal = out.isTTY === true
  let shownAt = 0
  let current = ''
  let samples: { atMs: number; bytes: number }[] = []
  let silence: NodeJS.Timeout | undefined
  const clear = terminal ? '\r\x1b[2K' : ''
  const done = () => {
    if (terminal && current !== '') out.write('\n')
    current = ''
    clearInterval(silence)
  }
  return {
    step: (text) => {
      done()
      out.write(`engines: ${text}\n`)
      const beganAt = performance.now()
      silence = setInterval(() => {
        out.write(`engines: still ${text}, ${Math.round((performance.now() - beganAt) / 1000)} s\n`)
      }, silenceMaxMs).unref()
    },
    bytes: (text, bytesDone, bytesTotal) => {
      const now = performance.now()
      if (current !== text) {
        done()
        current = text
        samples = []
        shownAt = 0
      }
      samples = [...samples.filter(({ atMs }) => now - atMs <= speedOverMs), { atMs: now, bytes: bytesDone }]
      if (now - shownAt < (terminal ? redrawEveryMs : plainLineEveryMs) && shownAt !== 0) return
      shownAt = now
      const line = `engines: ${text} ${describeBytes(bytesDone, bytesTotal, speedOf(samples))}`
      out.write(terminal ? clear + line : `${line}\n`)
    },
    done,
  }
}

/** Progress of callers that show none. */
export const noProgress: Progress = { step: () => {}, bytes: () => {}, done: () => {} }

/** Bytes a second between the first and the last sample; null for samples of less than two seconds. */
function speedOf(samples: readonly { atMs: number; bytes: number }[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.atMs - first.atMs < speedAfterMs) return null
  return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs)
}

const speedAfterMs = 2_000
const secondsShownMax = 90

/**
 * `12.3 of 38.1 MB, 3 s left`, or the minutes where it takes longer.
 * @param bytesPerS the speed of late; null where it is not known
 */
export function describeBytes(
  bytesDone: number,
  bytesTotal: number | null,
  bytesPerS: number | null,
): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
  if (bytesTotal === null) return `${megabytes(bytesDone)} MB`
  const amount = `${megabytes(bytesDone)} of ${megabytes(bytesTotal)} MB`
  if (bytesPerS === null || bytesPerS <= 0 || bytesDone >= bytesTotal) return amount
  const leftS = Math.ceil((bytesTotal - bytesDone) / bytesPerS)
  return `${amount}, ${leftS <= secondsShownMax ? `${leftS} s` : `${Math.ceil(leftS / 60)} min`} left`
}
