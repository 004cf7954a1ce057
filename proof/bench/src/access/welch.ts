/**
 * Welch's t of two samples: how many standard errors their means are apart.
 * @throws RangeError for fewer than two values.
 */
export function welchT(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [momentsOf(left), momentsOf(right)]
  return (a.mean - b.mean) / Math.sqrt(a.variance / left.length + b.variance / right.length)
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  if (values.length < 2) throw new RangeError('too few values')
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, variance: squares / (values.length - 1) }
}
