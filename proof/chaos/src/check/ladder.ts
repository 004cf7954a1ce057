/**
 * The retry schedule of docs/contract.md, section 5, written down a second time: a checker must not share the
 * code that it checks.
 */

const s = 1000
const min = 60 * s
const h = 60 * min

const firstMs = [1 * s, 2 * s, 5 * s, 15 * s, 30 * s, 1 * min, 2 * min, 5 * min, 10 * min, 30 * min]

/**
 * The longest that an unacknowledged credit or rollback of this age may have to wait for its next try: the
 * step that it has reached when every try was made in time. Later tries, which reach it later, wait
 * shorter.
 */
export function longestWaitMs(ageMs: number, scaleMs: (ms: number) => number): number {
  let atMs = 0
  let waitMs = 0
  for (const rungMs of firstMs) {
    if (ageMs < scaleMs(atMs)) return scaleMs(waitMs)
    waitMs = rungMs
    atMs += rungMs
  }
  if (ageMs < scaleMs(atMs)) return scaleMs(waitMs)
  return scaleMs(ageMs < scaleMs(24 * h - h) ? h : 6 * h)
}
