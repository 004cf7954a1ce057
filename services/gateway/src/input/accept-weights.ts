/**
 * The media ranges of an Accept header, in lower case, with their weights from 0 to 1. Source: RFC 9110,
 * section 12.5.1.
 */
export function acceptWeights(accept: string | undefined): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const range of (accept ?? '').split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(type ?? '', weight === undefined ? 1 : Number(weight) || 0)
  }
  return weights
}
