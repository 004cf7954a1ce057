/** Those values that `isFirst` chooses, and the others, each in their order. */
export function partition<Value>(
  values: readonly Value[],
  isFirst: (value: Value) => boolean,
): [Value[], Value[]] {
  const { first = [], second = [] } = Object.groupBy(values, (value) => (isFirst(value) ? 'first' : 'second'))
  return [first, second]
}
