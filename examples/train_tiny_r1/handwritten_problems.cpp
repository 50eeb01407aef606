// The thirty problems. Numbers are chosen freely: nothing about held-out equations is promised here.
#include "examples/train_tiny_r1/handwritten_problems.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr HandwrittenProblem kProblems[] = {
    // One step.
    {"Lucy had 48 stickers. Lucy bought 25 more stickers. How many stickers does Lucy have now?", 73},
    {"Tom had 145 marbles. Tom gave 56 marbles to Anna. How many marbles does Tom have now?", 89},
    {"At first, Nora had 37 shells. Peter gave Nora 64 shells. How many shells did Nora have in the end?", 101},
    {"Omar collected 120 stamps. Then Omar sold 45 stamps. How many stamps did Omar have in the end?", 75},
    {"Emma had 62 pencils. Paul had 38 pencils. How many pencils did Emma and Paul have together?", 100},
    {"Felix had 90 cards. Grace had 34 cards. How many more cards did Felix have than Grace?", 56},
    {"Ivy has 75 coins. Leo has 29 more coins than Ivy. How many coins does Leo have?", 104},
    {"Hugo owns 83 books. Rosa has 47 fewer books than Hugo. How many books does Rosa own?", 36},
    {"Mia filled 6 baskets and put 8 apples into each. How many apples does Mia have?", 48},
    {"David had 63 candies. He shared the candies equally among 7 friends. How many candies did each friend get?", 9},
    {"There were 52 people on the bus. At the next stop 19 people got off. How many people are on the bus now?", 33},
    {"The train started with 96 passengers. At the next stop 58 passengers got on. How many passengers were on the "
     "train in the end?",
     154},
    {"Walter had 70 sheep on a farm. In spring 26 sheep were born. How many sheep does Walter have now?", 96},
    {"Sofia saved 9 dollars a week for 8 weeks. How many dollars does Sofia have now?", 72},
    {"The book of Jonas has 180 pages. He read 65 pages. How many pages are left to read?", 115},
    // Two steps.
    {"Ella had 55 flowers. Ella bought 30 more flowers. Then Ella sold 42 flowers. How many flowers does Ella have "
     "now?",
     43},
    {"Max had 100 stones. He lost 35 stones. Later Max picked up 18 stones. How many stones did Max have in the end?",
     83},
    {"Clara owned 24 ribbons. Julia sent 57 more ribbons to Clara. Simon took 13 ribbons from Clara. How many ribbons "
     "does Clara have now?",
     68},
    {"Ben has 40 balloons. Zoe has 15 more balloons than Ben. Adam has 22 fewer balloons than Zoe. How many balloons "
     "does Adam have?",
     33},
    {"Ruth has 12 dolls. Amy has 3 times as many dolls as Ruth. Kate has 9 more dolls than Amy. How many dolls does "
     "Kate own?",
     45},
    {"There were 160 lamps in the warehouse. A customer bought 75 lamps. A truck brought 40 more lamps. How many lamps "
     "are in the warehouse now?",
     125},
    {"The library had 88 chairs. A worker removed 29 chairs. Then 36 new chairs arrived. How many chairs does the "
     "library have now?",
     95},
    {"There were 41 tourists on the ferry. At the next stop 27 tourists got on. Then 33 tourists left the ferry. How "
     "many tourists are on the ferry now?",
     35},
    {"Henry had 15 dollars. He earned 48 dollars. He spent 20 dollars on a box. How many dollars does Henry have now?",
     43},
    {"Laura worked for 5 hours and earned 9 dollars an hour. Laura paid Ivan 17 dollars. How many dollars does Laura "
     "have now?",
     28},
    {"Daniel read 34 pages on Monday. The next day he read 28 pages. Then Daniel read 45 more pages. How many pages "
     "did Daniel read in all?",
     107},
    {"Vera must read 150 pages. She read 44 pages. After dinner she read 27 pages. How many pages must Vera still "
     "read?",
     79},
    {"Oscar cycled 38 kilometers on Monday. The next day he traveled 54 kilometers. Then he went 16 kilometers by bus. "
     "How many kilometers did Oscar travel in all?",
     108},
    {"Nina had 4 barns with 9 goats in each. Nina sold 11 goats to Carl. How many goats were there in the end?", 25},
    {"There were 130 liters of water in a tank. Then 46 liters leaked out. Eric poured in 60 more liters. How many "
     "liters are in the tank now?",
     144},
};

}  // namespace

std::span<const HandwrittenProblem> handwritten_problems() { return kProblems; }

}  // namespace minitorch::train_tiny_r1
