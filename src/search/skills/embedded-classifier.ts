/**
 * The classifier that needs no model and no network: trained scores for the skills of the default taxonomy, nearness to the skill's vector
 * for all others. Both are calibrated on a tool's first skill, so that a first skill with a confidence of 0.7 is right seven times out of
 * ten. A skill needs evidence; being common is none. Pure.
 */
import type { Embedding } from '../text/embedding.ts';
import type { Classification } from './classifier.ts';
import { toFeatures, type ClassifiedTool, type Features } from './features.ts';
import type { Taxonomy } from './skill.ts';
import { cosine, toSkillVector, type MemberTotal } from './skill-vectors.ts';
import { toAssigned, type Assigned } from '../../servers/registry/tool-skills.ts';
import { toLikelihood, type Weights } from './weights.ts';

/** Least confidence of a tool's first skill; below it the tool has none. */
const LEAST = 0.1;
/** A second or third skill needs this confidence, and this share of the confidence of the first. */
const LEAST_OF_MORE = 0.2;
const SHARE_OF_FIRST = 0.4;

export type EmbeddedClassifier = (tool: ClassifiedTool) => Classification;

export interface EmbeddedMaterial {
  embedding: Embedding;
  weights: Weights;
  taxonomy: Taxonomy;
  /** By skill id, each server's totals of the tools that administrators put into the skill. */
  handMembers: ReadonlyMap<string, readonly MemberTotal[]>;
}

/** Returns how near a tool is to a skill's vector; its own texts count most. */
export function nearness({ own, server }: Features, vector: Float32Array): number {
  return 0.75 * cosine(own, vector) + 0.25 * cosine(server, vector);
}

/** Creates a classifier for one state of the taxonomy. */
export function createEmbeddedClassifier(material: EmbeddedMaterial): EmbeddedClassifier {
  const { embedding, weights, taxonomy, handMembers } = material;
  const places = new Map(weights.skills.map(({ id }, place) => [id, place]));
  // A skill that was renamed means something else, so its trained scores do not apply.
  const placeOf = (id: string, name: string): number | undefined => {
    const place = places.get(id);
    return place !== undefined && weights.skills[place]?.name === name ? place : undefined;
  };
  const trained = taxonomy.skills.flatMap(({ id, name }) => {
    const place = placeOf(id, name);
    return place === undefined ? [] : [{ id, place }];
  });
  const others = taxonomy.skills
    .filter(({ id, name }) => placeOf(id, name) === undefined)
    .map(skill => ({
      id: skill.id,
      vector: toSkillVector(skill, handMembers.get(skill.id) ?? [], embedding),
    }));
  return tool => {
    const features = toFeatures(tool, embedding);
    if (features.terms.length === 0) return { skills: [], reason: 'Its texts have no words' };
    const known = tool.server.description === '' ? 'bare' : 'described';
    const confidences = weights.confidencesOf(features, known);
    const found = toAssigned([
      ...trained.flatMap(({ id, place }) => {
        const confidence = confidences[place] ?? 0;
        return hasEvidence(confidence, weights.shares[place]) ? [{ id, confidence }] : [];
      }),
      ...others.map(({ id, vector }) => ({
        id,
        confidence: toLikelihood(weights.nearness[known], nearness(features, vector)),
      })),
    ]);
    return toClassification(found);
  };
}

/**
 * Tells whether a tool indicates a skill more than an average tool does.
 * @param share of all tools that have the skill as their first
 */
export const hasEvidence = (confidence: number, share = 0): boolean => confidence > share;

function toClassification(found: readonly Assigned[]): Classification {
  const [first] = found;
  if (!first || first.confidence < LEAST) return { skills: [], reason: 'No skill fits it' };
  const least = Math.max(LEAST_OF_MORE, first.confidence * SHARE_OF_FIRST);
  const skills = found.filter((skill, i) => i === 0 || skill.confidence >= least);
  return { skills, reason: null };
}
