import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type AptSource = { uri: string; suites: string[]; components: string[]; signedBy: string | null }

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

/** Suites of the Debian archive by name, without those of security and backports. */
const debianSuites = new Set(
  'oldstable stable testing unstable bullseye bookworm trixie forky duke sid'.split(' '),
)
const archiveKeyring = /^\/(usr\/share|etc\/apt)\/keyrings\/debian-archive-keyring\.(gpg|pgp|asc)$/

/**
 * The source that is a mirror of the Debian archive itself: one of its suites, with its component `main`, in
 * a folder `debian` (or a dated copy of it), under no other key than the archive's. A vendor's own repository
 * for Debian has a key of its own, which would sign whatever the vendor likes. Null when the machine has none
 * (it is no Debian, or installs from a disc only).
 */
export function debianMirror(sources: AptSource[]): AptSource | null {
  const isArchive = ({ uri, suites, components, signedBy }: AptSource) =>
    /^(https?|mirror\+file|mirror\+https?|tor\+https?|file):/.test(uri) &&
    (/\/debian\/?(\d{8}T\d{6}Z\/?)?$/.test(uri) || /^mirror\+file:/.test(uri)) &&
    suites.some((suite) => debianSuites.has(suite)) &&
    components.includes('main') &&
    (signedBy === null || archiveKeyring.test(signedBy))
  return sources.find(isArchive) ?? null
}

/** The source that is a mirror of Debian's security updates, by the same rules; null without one. */
export function securityMirror(sources: AptSource[]): AptSource | null {
  const isSecurity = ({ uri, suites, components, signedBy }: AptSource) =>
    /^(https?|tor\+https?|file):/.test(uri) &&
    /\/debian-security\/?(\d{8}T\d{6}Z\/?)?$/.test(uri) &&
    suites.some((suite) => debianSuites.has(suite.replace(/-security$/, ''))) &&
    components.includes('main') &&
    (signedBy === null || archiveKeyring.test(signedBy))
  return sources.find(isSecurity) ?? null
}

/** `deb [options] uri suite component…` */
export function parseOneLine(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$/.exec(line.trim())
    const [, options, uri, suite, rest] = match ?? []
    if (uri === undefined || suite === undefined) return []
    const components = words(rest?.split('#')[0])
    const signedBy = /signed-by=(\S+)/.exec(options ?? '')?.[1] ?? null
    return [{ uri, suites: [suite], components, signedBy }]
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
    const suites = words(fields.get('suites'))
    const components = words(fields.get('components'))
    const key = fields.get('signed-by') ?? null
    // a key written into the source itself cannot be named in a one-line source; the archive's own keyring
    // serves
    const signedBy = key?.startsWith('/') ? key : null
    return words(fields.get('uris')).map((uri) => ({ uri, suites, components, signedBy }))
  })
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter(Boolean)
}
