type Tell = (error: unknown, origin: string) => void

const open: Domain[] = []
const tellInnermost: Tell = (error, origin) => open.at(-1)?.onerror(error, origin)

/**
 * What tap asks of the package `async-hook-domain`, which the worker's hooks puts this in place of: an
 * error that nobody caught, thrown or of a promise, is told to the innermost test that has not ended. Tests
 * of a file run one after the other, so that is the test that runs. With no open domain Node ends the
 * process. Source: ours.
 */
export class Domain {
  readonly onerror: Tell

  constructor(onerror: Tell) {
    this.onerror = onerror
    if (open.push(this) === 1) process.on('uncaughtException', tellInnermost)
  }

  destroy(): void {
    const at = open.indexOf(this)
    if (at === -1) return
    open.splice(at, 1)
    if (open.length === 0) process.off('uncaughtException', tellInnermost)
  }
}
