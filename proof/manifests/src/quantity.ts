const factors: Readonly<Record<string, number>> = {
  '': 1,
  m: 1 / 1000,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
}

/**
 * Reads a quantity of Kubernetes, such as `500m` or `512Mi`, as a number.
 * @throws Error for any other text
 */
export function quantity(text: string): number {
  const [, digits = '', unit = ''] = /^([0-9.]+)([A-Za-z]*)$/.exec(text) ?? []
  const factor = factors[unit]
  if (digits === '' || factor === undefined) throw new Error(`no quantity: ${text}`)
  return Number(digits) * factor
}
