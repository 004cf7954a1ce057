const machineDate = Date
let offsetMs = 0

/**
 * Sets this process's wall clock so many ms off the machine's: everything that asks for the time gets it, as
 * on a machine whose clock is off. Timers and `performance.now` go on as they are.
 */
export function shiftClock(ms: number): void {
  offsetMs = ms
  globalThis.Date = shiftedDate
}

const shiftedDate: DateConstructor = new Proxy(machineDate, {
  construct: (target, given, newTarget): Date =>
    Reflect.construct(
      target,
      given.length === 0 ? [now()] : given,
      newTarget === shiftedDate ? target : newTarget,
    ),
  apply: () => new machineDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

function now(): number {
  return machineDate.now() + offsetMs
}
