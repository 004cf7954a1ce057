/**
 * Takes the launch token out of the address (`#token=…`) and the fragment out of the address bar and the
 * history entry. The token is handed back once and is kept nowhere else, so a reload has none.
 * @returns null when the address carries no token
 */
export function takeLaunchToken(): string | null {
  const { hash, pathname, search } = window.location
  if (hash === '') return null
  window.history.replaceState(null, '', pathname + search)
  const token = new URLSearchParams(hash.slice(1)).get('token')
  return token === null || token === '' ? null : token
}
