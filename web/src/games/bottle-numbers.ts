/** Time that the bottle turns. The style sheet's transition takes as long. */
export const spinMs = 2600

/** Sectors are called A, B, C … so that they are not mistaken for the 0-based numbers of the bet. */
export function sectorName(sector: number): string {
  return String.fromCharCode(65 + sector)
}

/** A slice of the wheel from `sector` · 360 / `sectors` degrees on, clockwise from the top. */
export function slicePath(sector: number, sectors: number, radius: number): string {
  const from = pointAt((sector * 360) / sectors, radius)
  const to = pointAt(((sector + 1) * 360) / sectors, radius)
  return `M0 0L${from.x} ${from.y}A${radius} ${radius} 0 0 1 ${to.x} ${to.y}Z`
}

/** A point of the wheel, degrees clockwise from the top. */
export function pointAt(degrees: number, radius: number): { x: number; y: number } {
  const radians = ((degrees - 90) * Math.PI) / 180
  return { x: round(Math.cos(radians) * radius), y: round(Math.sin(radians) * radius) }
}

/** The total turn that ends at `angle` after at least `turns` more full turns. */
export function turnTo(current: number, angle: number, turns: number): number {
  const base = Math.ceil(current / 360) * 360
  return base + turns * 360 + angle
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
