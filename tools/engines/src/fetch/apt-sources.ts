import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type AptSource = { uri: string; suites: string[]; signedBy: string | null }

/** The package sources of this machine, from both formats in which apt keeps them. */
export function readAptSources(folder = '/etc/apt'): AptSource[] {
  const parts = join(folder, 'sources.list.d')
  const names = existsSync(parts) ? readdirSync(parts).sort() : []
  const files = [join(folder, 'sources.list'), ...names.map((name) => join(parts, name))]
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => {
      if (file.endsWith('.sources')) return parseDeb822(readFileSync(file, 'utf8'))
      if (file.endsWith('.list')) return parseOneLine(readFileSync(file, 'utf8'))
      return []
    })
}

/**
 * The source that is the mirror of the Debian archive itself: not its security archive, not a vendor's own.
 * Null when the machine has none (it is no Debian, or installs from a disc only).
 */
export function debianMirror(sources: AptSource[]): AptSource | null {
  const remote = sources.filter(({ uri }) =>
    /^(https?|mirror\+file|mirror\+https?|tor\+https?|file):/.test(uri),
  )
  const archive = remote.filter(
    ({ uri, suites }) => !/security/.test(uri) && suites.some((suite) => !/security/.test(suite)),
  )
  return archive.find(({ uri }) => /debian/.test(uri)) ?? null
}

/** `deb [options] uri suite component…` */
export function parseOneLine(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)/.exec(line.trim())
    const [, options, uri, suite] = match ?? []
    if (uri === undefined || suite === undefined) return []
    const signedBy = /signed-by=(\S+)/.exec(options ?? '')?.[1] ?? null
    return [{ uri, suites: [suite], signedBy }]
  })
}

/** Paragraphs of `Field: value`, values continued on lines that begin with a blank. */
export function parseDeb822(text: string): AptSource[] {
  const withoutComments = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
  return withoutComments.split(/\n\s*\n/).flatMap((paragraph) => {
    const fields = new Map<string, string>()
    for (const [, name, value] of paragraph.matchAll(/^([A-Za-z-]+):[ \t]*((?:.*)(?:\n[ \t]+.*)*)/gm)) {
      if (name !== undefined && value !== undefined) fields.set(name.toLowerCase(), value.trim())
    }
    const isOn = fields.get('enabled')?.toLowerCase() !== 'no'
    const isBinary = (fields.get('types') ?? '').split(/\s+/).includes('deb')
    if (!isOn || !isBinary) return []
    const suites = (fields.get('suites') ?? '').split(/\s+/)
    const key = fields.get('signed-by') ?? null
    // a key written into the source itself cannot be named in a one-line source; the archive's own keyring
    // serves
    const signedBy = key?.startsWith('/') ? key : null
    return (fields.get('uris') ?? '')
      .split(/\s+/)
      .filter(Boolean)
      .map((uri) => ({ uri, suites, signedBy }))
  })
}
