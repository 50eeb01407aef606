// The sentences themselves, in fixed grammar: what happens stands in the past tense, which is the same for one and
// many.
#include "examples/train_tiny_r1/sentence_forms.h"

#include <set>

namespace minitorch::train_tiny_r1 {
namespace {

using enum Op;
using enum StepKind;

// A person and things.
constexpr OpeningForm kOwnerOpenings[] = {
    {"{n} had {x} {o}."},
    {"{n} owned {x} {o}."},
    {"At first, {n} had {x} {o}."},
    {"{n} collected {x} {o}."},
    {"There were {x} {o} in the room of {n}."},
    {"{n} kept {x} {o} in a {c}."},
    {"{n} had {x} {cs} with {y} {o} in each.", true},
    {"{n} filled {x} {cs} and put {y} {o} into each.", true},
    {"On each of {x} days {n} bought {y} {o}.", true},
};
constexpr StepForm kOwnerSteps[] = {
    {kAdd, "{n} bought {x} more {o}."},
    {kAdd, "Then {he} found {x} {o}."},
    {kAdd, "{m} gave {n} {x} {o}."},
    {kAdd, "{n} got {x} {o} from {m}."},
    {kAdd, "{m} sent {x} more {o} to {n}."},
    {kAdd, "{He} received {x} {o} as a gift."},
    {kAdd, "Later {n} picked up {x} {o}."},
    {kAdd, "{n} won {x} {o} at the fair."},
    {kAdd,
     "{m} had {x} {o}.",
     kIsLast,
     {"How many {os} did {n} and {m} have together?", "{n} and {m} had {r} {o} together."}},
    {kSubtract, "{n} gave {x} {o} to {m}."},
    {kSubtract, "{He} lost {x} {o}."},
    {kSubtract, "Then {n} sold {x} {o}."},
    {kSubtract, "{m} took {x} {o} from {n}."},
    {kSubtract, "{m} borrowed {x} {o} from {n}."},
    {kSubtract, "{n} threw away {x} {o}."},
    {kSubtract, "{He} left {x} {o} at school."},
    {kSubtract, "Then {he} mailed {x} {o} to {m}."},
    {kSubtract,
     "{m} had {x} {o}.",
     kIsLast,
     {"How many more {os} did {n} have than {m}?", "{n} had {r} more {o} than {m}."}},
    {kMultiply, "A week later {n} had {x} times as many {os}."},
    {kMultiply, "Then the number of {os} became {x} times as large."},
    {kDivide, "{n} packed the {os} into {x} equal {cs} and kept only one of them."},
    {kDivide, "{He} divided the {os} into {x} equal parts and kept only one of them."},
    {kDivide,
     "{He} shared the {os} equally among {x} friends.",
     kIsLast,
     {"How many {os} did each friend get?", "Each friend got {r} {o}."}},
    {kDivide,
     "{n} put the {os} into {x} {cs}, with the same number in each.",
     kIsLast,
     {"How many {os} were in each {c}?", "There {was} {r} {o} in each {c}."}},
};
constexpr Ending kOwnerEndings[] = {
    {"How many {os} does {n} have now?", "{n} has {r} {o} now."},
    {"How many {os} did {n} have in the end?", "{n} had {r} {o} in the end."},
    {"How many {os} does {n} have?", "{n} has {r} {o}."},
};

// Each person compared with the one before.
constexpr OpeningForm kCompareOpenings[] = {{"{n} has {x} {o}."}, {"{n} owns {x} {o}."}};
constexpr StepForm kCompareSteps[] = {
    {kAdd, "{m} has {x} more {o} than {n}.", kPassesOn},
    {kAdd, "{m} owns {x} {o} more than {n}.", kPassesOn},
    {kSubtract, "{m} has {x} fewer {o} than {n}.", kPassesOn},
    {kSubtract, "{n} has {x} more {o} than {m}.", kPassesOn},
    {kMultiply, "{m} has {x} times as many {os} as {n}.", kPassesOn},
    {kDivide, "{n} has {x} times as many {os} as {m}.", kPassesOn},
};
constexpr Ending kCompareEndings[] = {
    {"How many {os} does {n} have?", "{n} has {r} {o}."},
    {"How many {os} does {n} own?", "{n} owns {r} {o}."},
};

// Things in a place.
constexpr OpeningForm kStoreOpenings[] = {
    {"There were {x} {o} in the {p}."},
    {"The {p} had {x} {o}."},
    {"{n} counted {x} {o} in the {p}."},
    {"The {p} had {x} shelves with {y} {o} on each.", true},
    {"There were {x} {cs} in the {p}, each with {y} {o}.", true},
};
constexpr StepForm kStoreSteps[] = {
    {kAdd, "A truck brought {x} more {o}."},
    {kAdd, "{m} brought {x} {o}."},
    {kAdd, "Then {x} new {o} arrived."},
    {kAdd, "On Monday {n} added {x} {o}."},
    {kSubtract, "Then {m} took {x} {o} away."},
    {kSubtract, "The {p} sold {x} {o}."},
    {kSubtract, "A customer bought {x} {o}."},
    {kSubtract, "A worker removed {x} {o}."},
    {kMultiply, "By summer the {p} had {x} times as many {os}."},
    {kDivide,
     "The {os} were put on {x} shelves, with the same number on each.",
     kIsLast,
     {"How many {os} were on each shelf?", "There {was} {r} {o} on each shelf."}},
};
constexpr Ending kStoreEndings[] = {
    {"How many {os} are in the {p} now?", "There {is} {r} {o} in the {p} now."},
    {"How many {os} does the {p} have now?", "The {p} has {r} {o} now."},
};

// People in a vehicle.
constexpr OpeningForm kRiderOpenings[] = {
    {"There were {x} {o} on the {p}."},
    {"The {p} started with {x} {o}."},
    {"The {p} had {x} rows with {y} {o} in each.", true},
};
constexpr StepForm kRiderSteps[] = {
    {kAdd, "At the next stop {x} {o} got on."},
    {kAdd, "Then {x} more {o} boarded."},
    {kSubtract, "At the next stop {x} {o} got off."},
    {kSubtract, "Then {x} {o} left the {p}."},
    {kDivide,
     "The {os} formed {x} equal groups.",
     kIsLast,
     {"How many {os} were in each group?", "There {was} {r} {o} in each group."}},
};
constexpr Ending kRiderEndings[] = {
    {"How many {os} are on the {p} now?", "There {is} {r} {o} on the {p} now."},
    {"How many {os} were on the {p} in the end?", "There {was} {r} {o} on the {p} in the end."},
};

constexpr OpeningForm kFarmOpenings[] = {
    {"{n} had {x} {o} on a farm."},
    {"There were {x} {o} in the field of {n}."},
    {"{n} had {x} barns with {y} {o} in each.", true},
};
constexpr StepForm kFarmSteps[] = {
    {kAdd, "In spring {x} {o} were born."},
    {kAdd, "{n} bought {x} {o} from {m}."},
    {kSubtract, "{n} sold {x} {o} to {m}."},
    {kSubtract, "One night {x} {o} ran away."},
    {kMultiply, "A year later {n} had {x} times as many {os}."},
    {kDivide,
     "{n} put the {os} into {x} barns, with the same number in each.",
     kIsLast,
     {"How many {os} were in each barn?", "There {was} {r} {o} in each barn."}},
};
constexpr Ending kFarmEndings[] = {
    {"How many {os} does {n} have now?", "{n} has {r} {o} now."},
    {"How many {os} were there in the end?", "There {was} {r} {o} in the end."},
};

constexpr OpeningForm kMoneyOpenings[] = {
    {"{n} had {x} {o}."},
    {"{n} saved {x} {o}."},
    {"{n} worked for {x} hours and earned {y} {o} an hour.", true},
    {"{n} saved {x} {o} a week for {y} weeks.", true},
};
constexpr StepForm kMoneySteps[] = {
    {kAdd, "{He} earned {x} {o}."},
    {kAdd, "{m} paid {n} {x} {o}."},
    {kAdd, "{He} sold a {c} for {x} {o}."},
    {kSubtract, "{He} spent {x} {o} on a {c}."},
    {kSubtract, "{n} paid {m} {x} {o}."},
    {kSubtract, "{He} gave {x} {o} to {m}."},
    {kMultiply, "A year later {n} had {x} times as many {os}."},
    {kDivide,
     "{He} split the {os} equally among {x} friends.",
     kIsLast,
     {"How many {os} did each friend get?", "Each friend got {r} {o}."}},
};
constexpr Ending kMoneyEndings[] = {
    {"How many {os} does {n} have now?", "{n} has {r} {o} now."},
    {"How much money does {n} have in the end?", "{n} has {r} {o} in the end."},
};

// A total that grows.
constexpr OpeningForm kReadOpenings[] = {
    {"{n} read {x} {o} on Monday."},
    {"{n} read {x} {o} a day for {y} days.", true},
};
constexpr StepForm kReadSteps[] = {
    {kAdd, "The next day {he} read {x} {o}."},
    {kAdd, "Then {n} read {x} more {o}."},
    {kSubtract, "{m} read {x} {o} less than {n}.", kIsLast, {"How many {os} did {m} read?", "{m} read {r} {o}."}},
    {kMultiply,
     "{m} read {x} times as many {os} as {n}.",
     kIsLast,
     {"How many {os} did {m} read?", "{m} read {r} {o}."}},
};
constexpr Ending kReadEndings[] = {{"How many {os} did {n} read in all?", "{n} read {r} {o} in all."}};

// What is left of a whole.
constexpr OpeningForm kBookOpenings[] = {{"The book of {n} has {x} {o}."}, {"{n} must read {x} {o}."}};
constexpr StepForm kBookSteps[] = {
    {kSubtract, "{He} read {x} {o}."},
    {kSubtract, "Then {n} read {x} {o} at home."},
    {kSubtract, "After dinner {he} read {x} {o}."},
    {kDivide,
     "{He} reads the same number of {os} on each of {x} days.",
     kIsLast,
     {"How many {os} does {n} read a day?", "{n} reads {r} {o} a day."}},
};
constexpr Ending kBookEndings[] = {
    {"How many {os} are left to read?", "There {is} {r} {o} left to read."},
    {"How many {os} must {n} still read?", "{n} must still read {r} {o}."},
};

constexpr OpeningForm kTravelOpenings[] = {
    {"{n} cycled {x} {o} on Monday."},
    {"{n} walked {x} {o}."},
    {"{n} drove {x} {o} an hour for {y} hours.", true},
};
constexpr StepForm kTravelSteps[] = {
    {kAdd, "The next day {he} traveled {x} {o}."},
    {kAdd, "Then {he} went {x} {o} by bus."},
    {kSubtract,
     "{m} traveled {x} {o} less than {n}.",
     kIsLast,
     {"How many {os} did {m} travel?", "{m} traveled {r} {o}."}},
    {kMultiply,
     "{m} traveled {x} times as far as {n}.",
     kIsLast,
     {"How many {os} did {m} travel?", "{m} traveled {r} {o}."}},
};
constexpr Ending kTravelEndings[] = {{"How many {os} did {n} travel in all?", "{n} traveled {r} {o} in all."}};

constexpr OpeningForm kGameOpenings[] = {
    {"{n} had {x} {o} in a game."},
    {"In a game {n} scored {x} {o}."},
    {"{n} played {x} rounds and scored {y} {o} in each.", true},
};
constexpr StepForm kGameSteps[] = {
    {kAdd, "In the next round {n} won {x} {o}."},
    {kAdd, "{He} scored {x} more {o}."},
    {kSubtract, "In the next round {n} lost {x} {o}."},
    {kSubtract, "A mistake cost {n} {x} {o}."},
    {kMultiply, "A bonus made the {os} of {n} {x} times as many."},
};
constexpr Ending kGameEndings[] = {
    {"How many {os} does {n} have now?", "{n} has {r} {o} now."},
    {"What is the score of {n}?", "{n} has {r} {o}."},
};

constexpr OpeningForm kTankOpenings[] = {
    {"There were {x} {o} of water in a tank."},
    {"{n} poured {x} {o} of water into a tank."},
    {"{n} emptied {x} buckets of {y} {o} each into a tank.", true},
};
constexpr StepForm kTankSteps[] = {
    {kAdd, "The rain added {x} {o}."},
    {kAdd, "{m} poured in {x} more {o}."},
    {kSubtract, "{m} used {x} {o}."},
    {kSubtract, "Then {x} {o} leaked out."},
    {kDivide,
     "The water was poured into {x} equal barrels.",
     kIsLast,
     {"How many {os} were in each barrel?", "There {was} {r} {o} in each barrel."}},
};
constexpr Ending kTankEndings[] = {
    {"How many {os} are in the tank now?", "There {is} {r} {o} in the tank now."},
};

constexpr Theme kThemes[] = {
    {8, NounKind::kObjects, PlaceKind::kNone, kOwnerOpenings, kOwnerSteps, kOwnerEndings},
    {3, NounKind::kObjects, PlaceKind::kNone, kCompareOpenings, kCompareSteps, kCompareEndings},
    {3, NounKind::kObjects, PlaceKind::kStore, kStoreOpenings, kStoreSteps, kStoreEndings},
    {2, NounKind::kPeople, PlaceKind::kVehicle, kRiderOpenings, kRiderSteps, kRiderEndings},
    {2, NounKind::kAnimals, PlaceKind::kNone, kFarmOpenings, kFarmSteps, kFarmEndings},
    {2, NounKind::kDollars, PlaceKind::kNone, kMoneyOpenings, kMoneySteps, kMoneyEndings},
    {1, NounKind::kPages, PlaceKind::kNone, kReadOpenings, kReadSteps, kReadEndings},
    {1, NounKind::kPages, PlaceKind::kNone, kBookOpenings, kBookSteps, kBookEndings},
    {1, NounKind::kKilometers, PlaceKind::kNone, kTravelOpenings, kTravelSteps, kTravelEndings},
    {1, NounKind::kPoints, PlaceKind::kNone, kGameOpenings, kGameSteps, kGameEndings},
    {1, NounKind::kLiters, PlaceKind::kNone, kTankOpenings, kTankSteps, kTankEndings},
};

}  // namespace

std::span<const Theme> themes() { return kThemes; }

std::int64_t num_sentence_forms() {
  std::set<std::string_view> texts;
  for (const Theme& theme : kThemes) {
    for (const OpeningForm& opening : theme.openings) texts.insert(opening.text);
    for (const StepForm& step : theme.steps) texts.insert({step.text, step.ending.question});
    for (const Ending& ending : theme.endings) texts.insert(ending.question);
  }
  texts.erase("");
  return static_cast<std::int64_t>(texts.size());
}

}  // namespace minitorch::train_tiny_r1
