import t from 'tap'
import {
  type AptSource,
  debianMirror,
  parseDeb822,
  parseOneLine,
  readAptSources,
  securityMirror,
} from '../../src/fetch/apt-sources.ts'

const deb822 = `
# a comment
Types: deb deb-src
URIs: http://mirror.example/debian
 https://second.example/debian/
Suites: bookworm bookworm-updates
Components: main
# in between
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: sid
`

await t.test(
  'reads the paragraphs of a .sources file, with continued lines, comments and switched-off entries',
  async (t) => {
    const sources = parseDeb822(deb822)
    t.strictSame(
      sources.map(({ uri }) => uri),
      [
        'http://mirror.example/debian',
        'https://second.example/debian/',
        'http://mirror.example/debian-security',
      ],
    )
    t.equal(sources[0]?.signedBy, '/usr/share/keyrings/debian-archive-keyring.gpg')
    t.strictSame(sources[0]?.suites, ['bookworm', 'bookworm-updates'])
  },
)

await t.test('a key written into the source itself is left to the machine', async (t) => {
  const text =
    'Types: deb\nURIs: http://m.example/debian\nSuites: sid\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDME\n'
  t.strictSame(parseDeb822(text), [
    { uri: 'http://m.example/debian', suites: ['sid'], components: [], signedBy: null },
  ])
})

await t.test('reads one-line sources with and without options', async (t) => {
  const text =
    '# deb http://no.example/debian sid main\ndeb [arch=amd64 signed-by=/k.gpg] http://a.example/debian sid main\ndeb-src http://b.example/debian sid main\ndeb http://c.example/debian trixie main\n'
  t.strictSame(parseOneLine(text), [
    { uri: 'http://a.example/debian', suites: ['sid'], components: ['main'], signedBy: '/k.gpg' },
    { uri: 'http://c.example/debian', suites: ['trixie'], components: ['main'], signedBy: null },
  ])
})

await t.test(
  'the mirror is the archive itself, neither its security archive nor a vendor nor a disc',
  async (t) => {
    const source = (uri: string, suite: string, more: Partial<AptSource> = {}) => ({
      ...{ uri, suites: [suite], components: ['main'], signedBy: null },
      ...more,
    })
    const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
    const official = source('http://mirror.example/debian', 'bookworm', { signedBy: keyring })
    const vendors = [
      source('https://vendor.example/deb/debian', 'bookworm', { signedBy: '/etc/apt/keyrings/vendor.gpg' }),
      source('https://vendor.example/linux/debian', 'bookworm', { components: ['stable'] }),
      source('https://vendor.example/debian', 'nodistro'),
      source('https://debian.vendor.example/apt', 'bookworm'),
      source('https://vendor.example/debian-extra', 'bookworm'),
    ]
    t.equal(debianMirror([...vendors, official]), official, "no vendor's mirror, nor his key")
    t.equal(debianMirror(vendors), null)
    const dated = source('http://old.example/archive/debian/20250520T000000Z/', 'sid', { signedBy: keyring })
    t.equal(debianMirror([dated]), dated)
    const archive = source('http://mirror.example/debian', 'bookworm')
    t.equal(
      debianMirror([
        source('cdrom:[Debian]/', 'bookworm'),
        source('https://vendor.example/apt', 'stable'),
        source('http://mirror.example/debian-security', 'bookworm-security'),
        archive,
      ]),
      archive,
    )
    t.equal(debianMirror([source('http://archive.example/ubuntu', 'noble')]), null)
  },
)

await t.test('a mirror of the security updates is one of Debian alone', (t) => {
  const of = (line: string) => securityMirror(parseOneLine(line))?.uri ?? null
  const official = 'http://mirror.example/debian-security'
  t.equal(of(`deb ${official} bookworm-security main`), official)
  t.equal(of('deb http://mirror.example/debian bookworm main'), null)
  t.equal(of('deb https://vendor.example/debian-security stable-security contrib'), null)
  t.equal(of(`deb [signed-by=/usr/share/keyrings/vendor.gpg] ${official} bookworm-security main`), null)
  t.equal(of(`deb ${official} noble-security main`), null)
  t.end()
})

await t.test('a machine without apt has no sources', async (t) => {
  t.strictSame(readAptSources(t.testdir({})), [])
  const folder = t.testdir({
    'sources.list': 'deb http://a.example/debian sid main\n',
    'sources.list.d': { 'x.disabled': 'deb http://b/debian sid' },
  })
  t.equal(readAptSources(folder).length, 1)
})
