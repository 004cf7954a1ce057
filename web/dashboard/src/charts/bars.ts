/** A bar to draw; `value` is whole and may be below zero. */
export type BarOf = { readonly name: string; readonly text: string; readonly value: bigint }

export type Bar = BarOf & {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Pixels of the drawing. A bar that is not zero has at least one pixel. */
export const size = { height: 180, top: 12, foot: 22, left: 40, barMax: 56, gap: 4 } as const

const parts = 10_000n

/**
 * Where bars stand: side by side over `width` pixels, up for more than zero and down for less, to one scale.
 * @returns `zero`: the height of the line of zero
 */
export function layOutBars(of: readonly BarOf[], width: number): { bars: Bar[]; zero: number } {
  const room = size.height - size.top - size.foot
  const top = of.reduce((most, { value }) => (value > most ? value : most), 0n)
  const bottom = of.reduce((least, { value }) => (value < least ? value : least), 0n)
  const span = top - bottom
  const px = (value: bigint) => (span === 0n ? 0 : (Number((value * parts) / span) / Number(parts)) * room)
  const zero = size.top + px(top)
  const each = of.length === 0 ? 0 : (width - 2 * size.left) / of.length
  const bars = of.map((bar, at) => {
    const height = bar.value === 0n ? 0 : Math.max(1, Math.abs(px(bar.value)))
    const wide = Math.max(1, Math.min(size.barMax, each - size.gap))
    return {
      ...bar,
      x: size.left + at * each + (each - wide) / 2,
      y: bar.value < 0n ? zero : zero - height,
      width: wide,
      height,
    }
  })
  return { bars, zero }
}
