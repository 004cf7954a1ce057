import type { CursorCodec } from '@pitboss/storage/cursor'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { Db } from 'mongodb'
import type { AccountScope, PageQuery } from './account.ts'
import { readPage } from './page.ts'

export type BrandDocument = { _id: string; operatorId: string; name: string; createdAt: Date }

/** Brands of accounts; both environments of an account share them. */
export function createBrandsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const brands = db.collection<BrandDocument>('brands')
  return {
    /** Inserts a brand; a repeat under the same id finds the first one. Null when the name is taken. */
    async insert(brand: BrandDocument): Promise<BrandDocument | null> {
      try {
        await brands.insertOne(brand)
        return brand
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        return brands.findOne({ _id: brand._id, operatorId: brand.operatorId })
      }
    },

    /** Newest first. */
    page: ({ operatorId }: AccountScope, { limit, cursor }: PageQuery) =>
      readPage({
        collection: brands,
        filter: { operatorId },
        order: '_id',
        limit,
        cursor,
        cursors,
        binding: ['brands', operatorId],
      }),

    /** In the order of creation. */
    first: ({ operatorId }: AccountScope, max: number) =>
      brands.find({ operatorId }).sort({ _id: 1 }).limit(max).toArray(),

    count: ({ operatorId }: AccountScope) => brands.countDocuments({ operatorId }),

    /** False when there is no such brand. */
    async remove({ operatorId }: AccountScope, brandId: string): Promise<boolean> {
      const { deletedCount } = await brands.deleteOne({ _id: brandId, operatorId })
      return deletedCount === 1
    },
  }
}
