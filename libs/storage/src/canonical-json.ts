export { canonicalJson } from '@pitboss/contracts/canonical-json'
