import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * The lines that are not empty of a file, or of every `.jsonl`, `.json` and `.csv` file of a folder, by name.
 */
export async function* readLines(path: string): AsyncGenerator<string> {
  for (const file of await filesOf(path)) {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      if (line.trim() !== '') yield line
    }
  }
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => /\.(jsonl|json|csv)$/.test(name)).toSorted()
  if (names.length === 0) throw new Error(`${path} has no .jsonl, .json or .csv file`)
  return names.map((name) => join(path, name))
}
