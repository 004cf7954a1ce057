/** What the runner sends a worker: the next file, that the present one has taken too long, or the end. */
export type Order = { readonly file: string } | { readonly abort: true } | { readonly done: true }

/** What a worker sends when it has loaded and its first file may come. */
export type Ready = { readonly ready: true }

/** What a worker reports when a file has ended. */
export type FileReport = {
  readonly file: string
  readonly ok: boolean
  /** Assertions. */
  readonly checks: number
  /** Failures that tap does not know of: leaked handles, an exit code that the file has set. */
  readonly complaints: readonly string[]
  readonly wallS: number
  /** Processor time of the worker and of the children that ended meanwhile, user and system. */
  readonly cpuS: number
  readonly databases: number
  readonly processes: number
}

/** A worker prints this line after each file, so that the runner knows whose output came before. */
export const endOfFile = (file: string) => `# end of ${file}`
